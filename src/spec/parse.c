/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the step from bytes to the typed configuration: what libocispec reports becomes findings.
   Runs in the parent, pure, needs no privilege.  */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/load.h"

/* "config.json:12: /mounts/3: message".  The pointer is libocispec's, printable and bounded.  */
static void issue_add (const struct oci_issue *issue, const char *name, const char *action,
                       struct findings *findings)
{
  const char *base = strrchr (name, '/');
  char quoted[STR_QUOTE_MAX];
  bool root = issue->pointer == NULL || issue->pointer[0] == '\0';

  str_quote (base == NULL ? name : base + 1, quoted);
  finding_add (findings, issue->rule, action, issue->pointer, "%s:%u: %s%s%s", quoted, issue->line,
               root ? "" : issue->pointer, root ? "" : ": ", issue->message);
}

int spec_parse_text (const struct oci_type *type, const char *name, const char *bytes, size_t len,
                     struct arena *arena, struct findings *findings, void **ret, struct error *err)
{
  struct oci_report report = { 0 };
  void *object = NULL;
  size_t first = findings->len;
  int r;

  r = oci_parse (type, arena, bytes, len, 0, &report, &object);
  for (size_t i = 0; i < report.errors_len; i++)
    issue_add (&report.errors[i], name, "reject", findings);
  for (size_t i = 0; i < report.unknown_len; i++)
    issue_add (&report.unknown[i], name, "warn", findings);
  if (r == -ENOMEM || findings->failed)
    return error_errno (err, ENOMEM, "parse configuration");
  if (r < 0)
    return error_set (err, r, "%s",
                      findings->len > first ? findings->items[first].message
                                            : "configuration is not valid");
  *ret = object;
  return 0;
}

int spec_parse (const struct bundle *bundle, struct arena *arena, struct findings *findings,
                struct oci_config **ret, struct error *err)
{
  void *config = NULL;
  int r = spec_parse_text (&oci_config_type, bundle->config_name, bundle->bytes, bundle->len, arena,
                           findings, &config, err);

  if (r == 0)
    *ret = config;
  return r;
}
