/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what the reader accepts must come out of the writer, the copier and a second reading
   unchanged; what it refuses must have a finding.  Needs no privileges.  */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "ocispec.h"

static void check_issues (const struct oci_issue *issues, size_t len, const char *rule)
{
  require (len <= OCI_MAX_ISSUES, "lists of findings are bounded");
  for (size_t i = 0; i < len; i++)
    {
      require (strncmp (issues[i].rule, rule, strlen (rule)) == 0, "a finding has a json.* rule");
      require (issues[i].line >= 1, "lines count from 1");
      require (issues[i].pointer[0] == '\0' || issues[i].pointer[0] == '/', "a JSON pointer");
      for (const char *c = issues[i].message; *c != '\0'; c++)
        require (*c >= 0x20 && *c < 0x7f, "messages are printable ASCII");
    }
}

static void check_same (const struct oci_type *type, struct arena *arena, const void *object,
                        const char *json)
{
  char *again = NULL;

  require (object != NULL, "the copy exists");
  require (oci_emit (type, object, 0, arena, &again, NULL) == 0, "the copy can be written");
  require (strcmp (json, again) == 0, "the copy is written as the original");
}

static void check_type (const struct oci_type *type, const char *bytes, size_t size, unsigned flags)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_report second = { 0 };
  unsigned style = (flags & OCI_ALLOW_COMMENTS) != 0 ? OCI_PRETTY : 0;
  void *object = NULL;
  char *json = NULL;
  char *compact = NULL;
  size_t len;
  int r = oci_parse (type, arena, bytes, size, flags, &report, &object);

  check_issues (report.errors, report.errors_len, "json.");
  check_issues (report.unknown, report.unknown_len, "json.unknown");
  require ((r == -EINVAL) == (report.errors_len > 0), "an error has a finding, a success none");
  if (r < 0)
    return;
  require (oci_emit (type, object, 0, arena, &compact, NULL) == 0, "it can be written");
  require (oci_emit (type, object, style, arena, &json, &len) == 0, "it can be written prettily");
  require (len == strlen (json), "the length is right");
  check_same (type, arena, oci_clone (type, arena, object), compact);
  object = NULL;
  require (oci_parse (type, arena, json, len, 0, &second, &object) == 0, "it can be read again");
  require (second.unknown_len == 0, "only known members are written");
  check_same (type, arena, object, compact);
}

/* The first byte chooses type and flags, the rest is the document.  A document's own first byte is
   '{' or white space, so a corpus of plain files works as well: those reach a type too.  */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const struct oci_type *const types[] = { &oci_config_type, &oci_process_type,
                                                  &oci_state_type, &oci_features_type };
  const char *bytes = (const char *)data;
  unsigned choice = size > 0 ? data[0] : 0;

  if (choice == '{')
    {
      check_type (&oci_config_type, bytes, size, 0);
      return 0;
    }
  if (size > 0)
    check_type (types[(choice >> 1) % (sizeof types / sizeof *types)], bytes + 1, size - 1,
                choice & OCI_ALLOW_COMMENTS);
  return 0;
}
