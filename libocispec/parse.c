/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text to C structs: yajl's events, and the begin and the end of a document.
   Runs in any process, needs no privileges.  */
#include "parser.h"

#include <errno.h>

static int on_null (void *context)
{
  return oci_parser_value (context, &(struct token){ .type = TOKEN_NULL });
}

static int on_boolean (void *context, int value)
{
  return oci_parser_value (context, &(struct token){ .type = TOKEN_BOOL, .boolean = value != 0 });
}

static int on_number (void *context, const char *text, size_t len)
{
  return oci_parser_value (context,
                           &(struct token){ .type = TOKEN_NUMBER, .text = text, .len = len });
}

static int on_string (void *context, const unsigned char *text, size_t len)
{
  return oci_parser_value (
      context, &(struct token){ .type = TOKEN_STRING, .text = (const char *)text, .len = len });
}

static int on_start_object (void *context)
{
  return oci_parser_value (context, &(struct token){ .type = TOKEN_OBJECT });
}

static int on_start_array (void *context)
{
  return oci_parser_value (context, &(struct token){ .type = TOKEN_ARRAY });
}

static int on_end_container (void *context) { return oci_parser_end (context); }

/* With on_number set yajl hands out numbers as they are written, so nothing passes through a
   double.  */
static const yajl_callbacks callbacks = {
  .yajl_null = on_null,
  .yajl_boolean = on_boolean,
  .yajl_number = on_number,
  .yajl_string = on_string,
  .yajl_start_map = on_start_object,
  .yajl_map_key = oci_parser_name,
  .yajl_end_map = on_end_container,
  .yajl_start_array = on_start_array,
  .yajl_end_array = on_end_container,
};

/* The offset of the first byte that is no white space at or after START.  */
static size_t skip_blanks (const struct oci_scan *scan, size_t start)
{
  while (start < scan->limit && strchr (" \t\r\n", scan->text[start]) != NULL)
    start++;
  return start;
}

static void yajl_refused (struct parser *p)
{
  unsigned char *reason = yajl_get_error (p->yajl, 0, NULL, 0);
  const char *text = (const char *)reason;
  char *message = NULL;

  if (text != NULL)
    {
      const char *colon = strstr (text, "error: "); /* "parse error: ", "lexical error: " */

      text = colon != NULL ? colon + strlen ("error: ") : text;
      message =
          arena_printf (p->arena, "not well-formed JSON: %.*s", (int)strcspn (text, "\n"), text);
    }
  yajl_free_error (p->yajl, reason);
  oci_parser_error (p, "json.syntax", message);
  oci_parser_fail (p, -EINVAL);
}

/* yajl's own look at the end of the input takes an unfinished token after the document for white
   space, so its yajl_complete_parse is not used.  */
static void check_end (struct parser *p, yajl_status status)
{
  size_t rest = skip_blanks (&p->scan, p->end);

  if (p->end > 0 && rest < p->scan.limit)
    oci_parser_syntax_error (p, rest, "there is more after the end of the object");
  else if (status != yajl_status_ok)
    yajl_refused (p);
  else if (p->scan.problem != NULL)
    oci_parser_syntax_error (p, p->scan.limit, p->scan.problem);
  else if (p->end == 0 && rest == p->scan.limit)
    oci_parser_syntax_error (p, p->scan.limit, "the document is empty");
  else if (p->end == 0)
    oci_parser_syntax_error (p, p->scan.limit,
                             p->depth > 0 ? "the document ends before its object does"
                                          : "the document is not a JSON object");
}

static void run (struct parser *p)
{
  yajl_status status;

  p->yajl = yajl_alloc (&callbacks, NULL, p);
  if (p->yajl == NULL)
    {
      oci_parser_fail (p, -ENOMEM);
      return;
    }
  status = yajl_parse (p->yajl, (const unsigned char *)p->scan.text, p->scan.limit);
  if (p->error == 0)
    check_end (p, status);
  yajl_free (p->yajl);
}

static int too_large (struct parser *p)
{
  oci_parser_error (p, "json.size",
                    arena_printf (p->arena, "larger than %d bytes", (int)OCI_MAX_BYTES));
  oci_parser_fail (p, -EINVAL);
  return p->error;
}

int oci_parse (const struct oci_type *type, struct arena *arena, const char *bytes, size_t len,
               unsigned flags, struct oci_report *report, void **ret_object)
{
  struct parser p = { .type = type, .arena = arena, .report = report, .line = 1 };
  int r;

  if (len > OCI_MAX_BYTES)
    return too_large (&p);
  r = oci_scan (bytes, len, flags, arena, &p.scan);
  if (r < 0)
    return r;
  oci_hash_key_init (&p.hash_key);
  run (&p);
  if (p.any.error != 0)
    oci_parser_fail (&p, p.any.error);
  oci_text_free (&p.any);
  for (size_t i = 0; i < OCI_MAX_DEPTH; i++)
    oci_keyset_free (&p.frames[i].names);
  if (p.error == 0 && report->errors_len > 0)
    p.error = -EINVAL;
  if (p.error != 0)
    return p.error;
  *ret_object = p.root;
  return 0;
}
