/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a parse: where they are and how they are listed.
   Runs in any process, needs no privileges.  */
#include "parser.h"

#include <errno.h>
#include <stdio.h>

void oci_parser_fail (struct parser *p, int error)
{
  if (p->error == 0)
    p->error = error;
}

static unsigned line_of (struct parser *p, size_t offset)
{
  for (; p->line_at < offset && p->line_at < p->scan.limit; p->line_at++)
    if (p->scan.text[p->line_at] == '\n')
      p->line++;
  return p->line;
}

static char *current_pointer (struct parser *p)
{
  cleanup_oci_text struct oci_text text = { 0 };

  for (size_t i = 0; i < p->depth; i++)
    {
      const struct frame *f = &p->frames[i];
      char number[24];

      if (f->is_array)
        {
          snprintf (number, sizeof number, "%zu", f->count);
          oci_text_pointer (&text, number, strlen (number));
        }
      else if (f->has_key)
        oci_text_pointer (&text, f->key, f->key_len);
    }
  return oci_text_copy (&text, p->arena);
}

/* Adds a finding at OFFSET to a list, whose room is made at its first use.  MESSAGE may be NULL:
   memory was short when it was made.  */
static void add_issue (struct parser *p, struct oci_issue **list, size_t *list_len,
                       const char *rule, size_t offset, char *message)
{
  struct oci_issue issue = { .rule = rule, .message = message };

  if (*list_len >= OCI_MAX_ISSUES)
    return;
  if (*list_len == 0)
    *list = arena_alloc_array (p->arena, OCI_MAX_ISSUES, sizeof **list);
  issue.pointer = current_pointer (p);
  issue.line = line_of (p, offset);
  if (*list == NULL || issue.pointer == NULL || message == NULL)
    {
      oci_parser_fail (p, -ENOMEM);
      return;
    }
  (*list)[(*list_len)++] = issue;
}

void oci_parser_error (struct parser *p, const char *rule, char *message)
{
  add_issue (p, &p->report->errors, &p->report->errors_len, rule, yajl_get_bytes_consumed (p->yajl),
             message);
}

char *oci_parser_name_message (struct parser *p, const char *before, const struct frame *f,
                               const char *after)
{
  char *printable = oci_printable (p->arena, f->key, f->key_len);

  return printable == NULL ? NULL : arena_printf (p->arena, "%s%s%s", before, printable, after);
}

void oci_parser_unknown (struct parser *p, char *message)
{
  add_issue (p, &p->report->unknown, &p->report->unknown_len, "json.unknown",
             yajl_get_bytes_consumed (p->yajl), message);
}

void oci_parser_syntax_error (struct parser *p, size_t offset, const char *message)
{
  add_issue (p, &p->report->errors, &p->report->errors_len, "json.syntax", offset,
             arena_strdup (p->arena, message));
  oci_parser_fail (p, -EINVAL);
}
