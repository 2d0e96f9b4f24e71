/* SPDX-License-Identifier: Apache-2.0 */
/* Member names of a parse: repeated, unknown, or known but for case.
   Runs in any process, needs no privileges.  */
#include "parser.h"

#include <errno.h>
#include <stdio.h>

static const struct oci_member *find_member (const struct oci_type *type, const char *name,
                                             size_t len)
{
  for (size_t i = 0; i < type->members_len; i++)
    if (type->members[i].name_len == len && memcmp (type->members[i].name, name, len) == 0)
      return &type->members[i];
  return NULL;
}

/* Not tolower: the locale has no say in this.  */
static char to_lower (char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether NAME equals MEMBER's for a reader that ignores case as Go's encoding/json does: beside
   ASCII letters, U+017F (long s) counts as s and U+212A (Kelvin sign) as k.  */
static bool equals_but_for_case (const char *member, const char *name, size_t len)
{
  const char *end = name + len;

  for (; *member != '\0' && name < end; member++)
    {
      char want = to_lower (*member);

      if (want == 's' && end - name >= 2 && memcmp (name, "\xc5\xbf", 2) == 0)
        name += 2;
      else if (want == 'k' && end - name >= 3 && memcmp (name, "\xe2\x84\xaa", 3) == 0)
        name += 3;
      else if (to_lower (*name) == want)
        name++;
      else
        return false;
    }
  return *member == '\0' && name == end;
}

static void unknown_member (struct parser *p, const struct frame *f)
{
  for (size_t i = 0; i < f->type->members_len; i++)
    if (equals_but_for_case (f->type->members[i].name, f->key, f->key_len))
      {
        char after[128];

        snprintf (after, sizeof after, " differs from the member \"%s\" only by case",
                  f->type->members[i].name);
        if (!oci_parser_errors_full (p))
          oci_parser_error (p, "json.case", oci_parser_name_message (p, "", f, after));
        return;
      }
  if (p->report->unknown_len < OCI_MAX_ISSUES)
    oci_parser_unknown (p, oci_parser_name_message (p, "unknown member ", f, ""));
}

static void check_name (struct parser *p, struct frame *f)
{
  int r;

  for (size_t i = 0; i < f->key_len; i++)
    if (oci_is_control (f->key[i]))
      {
        f->has_key = false;
        oci_parser_error (
            p, "json.syntax",
            oci_parser_name_message (p, "control character in the member name ", f, ""));
        oci_parser_fail (p, -EINVAL);
        return;
      }
  r = oci_keyset_add (&f->names, &p->hash_key, f->key, f->key_len);
  if (r == 0)
    {
      oci_parser_error (p, "json.duplicate",
                        oci_parser_name_message (p, "the member ", f, " is repeated"));
      oci_parser_fail (p, -EINVAL);
    }
  else if (r < 0)
    oci_parser_fail (p, r);
}

/* NAME points into the document, or, when it had escapes, into a buffer of yajl's that the next
   token overwrites.  */
static const char *lasting (struct parser *p, const char *name, size_t len)
{
  uintptr_t offset = (uintptr_t)name - (uintptr_t)p->scan.text;

  return offset < p->scan.limit ? name : arena_strndup (p->arena, name, len);
}

int oci_parser_name (void *context, const unsigned char *name, size_t len)
{
  struct parser *p = context;
  struct frame *f = top (p);

  f->key = lasting (p, (const char *)name, len);
  f->key_len = len;
  f->has_key = f->key != NULL;
  if (f->key == NULL)
    oci_parser_fail (p, -ENOMEM);
  else
    check_name (p, f);
  if (p->error != 0)
    return 0;
  if (f->mode == MODE_OBJECT)
    {
      f->member = find_member (f->type, f->key, len);
      if (f->member == NULL)
        unknown_member (p, f);
    }
  else if (f->mode == MODE_ANY)
    {
      if (f->count > 0)
        oci_text_puts (&p->any, ",");
      oci_text_quote (&p->any, f->key, len);
      oci_text_puts (&p->any, ":");
    }
  return p->error == 0;
}
