/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a parse: what a value is for depends on the frame that it stands in, how it is stored
   on the kind of its member.  Runs in any process, needs no privileges.  */
#include "parser.h"

#include <errno.h>

/* ---- frames ---- */

static struct frame *push (struct parser *p, enum mode mode, bool is_array)
{
  struct oci_keyset names;
  struct frame *f;

  if (p->depth == OCI_MAX_DEPTH)
    {
      oci_parser_error (p, "json.size",
                        arena_printf (p->arena, "nested deeper than %d", (int)OCI_MAX_DEPTH));
      oci_parser_fail (p, -EINVAL);
      return NULL;
    }
  f = &p->frames[p->depth++];
  names = f->names;
  oci_keyset_clear (&names);
  *f = (struct frame){ .mode = mode, .is_array = is_array, .names = names };
  return f;
}

static void skip (struct parser *p, const struct token *token)
{
  if (is_container (token))
    push (p, MODE_SKIP, token->type == TOKEN_ARRAY);
}

/* Reports a value that is not what its place asks for, and moves over it.  EXPECTED is NULL for an
   integer: then the text names the range of MEMBER.  */
static void wrong_type (struct parser *p, const struct token *token,
                        const struct oci_member *member, const char *expected)
{
  if (!oci_parser_errors_full (p))
    oci_parser_error (p, "json.type",
                      expected != NULL
                          ? arena_strdup (p->arena, expected)
                          : arena_printf (p->arena, "expected an integer from %lld to %llu",
                                          (long long)member->lo, (unsigned long long)member->hi));
  skip (p, token);
}

/* ---- any ---- */

static void any_token (struct parser *p, const struct token *token)
{
  static const char *const words[] = {
    [TOKEN_NULL] = "null",
    [TOKEN_OBJECT] = "{",
    [TOKEN_ARRAY] = "[",
  };

  if (token->type == TOKEN_STRING)
    oci_text_quote (&p->any, token->text, token->len);
  else if (token->type == TOKEN_NUMBER)
    oci_text_add (&p->any, token->text, token->len);
  else if (token->type == TOKEN_BOOL)
    oci_text_puts (&p->any, token->boolean ? "true" : "false");
  else
    oci_text_puts (&p->any, words[token->type]);
  if (is_container (token))
    push (p, MODE_ANY, token->type == TOKEN_ARRAY);
}

static void any_finish (struct parser *p)
{
  char *text = oci_text_copy (&p->any, p->arena);

  if (text == NULL)
    oci_parser_fail (p, -ENOMEM);
  oci_store_pointer (p->any_at, text);
  p->any.len = 0;
}

/* ---- storing one value of a kind at AT; true when it is stored ---- */

typedef bool store_function (struct parser *p, const struct oci_member *member, char *at,
                             const struct token *token);

static bool store_bool (struct parser *p, const struct oci_member *member, char *at,
                        const struct token *token)
{
  (void)p;
  (void)member;
  memcpy (at, &token->boolean, sizeof token->boolean);
  return true;
}

/* Reads -?[0-9]+ that fits the member's range.  "-0" is an integer only where negative numbers
   are: Go's reader sees it the same way.  */
static bool read_integer (const struct oci_member *member, const struct token *token,
                          uint64_t *ret_value)
{
  bool negative = token->text[0] == '-';
  uint64_t magnitude = 0;

  for (size_t i = negative ? 1 : 0; i < token->len; i++)
    {
      unsigned digit = (unsigned)(token->text[i] - '0');

      if (digit > 9 || __builtin_mul_overflow (magnitude, UINT64_C (10), &magnitude)
          || __builtin_add_overflow (magnitude, (uint64_t)digit, &magnitude))
        return false;
    }
  if (negative)
    {
      if (member->kind != OCI_I32 && member->kind != OCI_I64)
        return false;
      if (member->lo > 0 || magnitude > 0 - (uint64_t)member->lo)
        return false;
      *ret_value = 0 - magnitude;
      return true;
    }
  if (magnitude > member->hi || (member->lo > 0 && magnitude < (uint64_t)member->lo))
    return false;
  *ret_value = magnitude;
  return true;
}

static bool store_integer (struct parser *p, const struct oci_member *member, char *at,
                           const struct token *token)
{
  uint64_t value;

  if (!read_integer (member, token, &value))
    {
      wrong_type (p, token, member, NULL);
      return false;
    }
  if (oci_element_size (member) == sizeof (uint16_t))
    memcpy (at, &(uint16_t){ (uint16_t)value }, sizeof (uint16_t));
  else if (oci_element_size (member) == sizeof (uint32_t))
    memcpy (at, &(uint32_t){ (uint32_t)value }, sizeof (uint32_t));
  else
    memcpy (at, &value, sizeof value);
  return true;
}

static bool store_string (struct parser *p, const struct oci_member *member, char *at,
                          const struct token *token)
{
  char *copy;

  if (member->kind != OCI_STRING)
    for (size_t i = 0; i < token->len; i++)
      if (oci_is_control (token->text[i]))
        {
          oci_parser_syntax_error (p, yajl_get_bytes_consumed (p->yajl),
                                   member->kind == OCI_PATH ? "control character in a path"
                                                            : "control character in a name");
          return false;
        }
  copy = arena_strndup (p->arena, token->text, token->len);
  if (copy == NULL)
    oci_parser_fail (p, -ENOMEM);
  oci_store_pointer (at, copy);
  return copy != NULL;
}

static bool store_any (struct parser *p, const struct oci_member *member, char *at,
                       const struct token *token)
{
  (void)member;
  p->any_at = at;
  any_token (p, token);
  if (is_container (token))
    p->any_depth = p->depth;
  else
    any_finish (p);
  return true;
}

static bool store_object (struct parser *p, const struct oci_member *member, char *at,
                          const struct token *token)
{
  char *object = at;
  struct frame *f;

  (void)token;
  if (member->shape == OCI_ONE)
    {
      object = arena_alloc (p->arena, member->type->size);
      if (object == NULL)
        {
          oci_parser_fail (p, -ENOMEM);
          return false;
        }
      oci_store_pointer (at, object);
    }
  f = push (p, MODE_OBJECT, false);
  if (f == NULL)
    return false;
  f->object = object;
  f->type = member->type;
  return true;
}

static const struct
{
  store_function *store;
  enum token_type token;
  const char *expected; /* NULL: an integer, the text has its range */
} kinds[] = {
  [OCI_BOOL] = { store_bool, TOKEN_BOOL, "expected true or false" },
  [OCI_U16] = { store_integer, TOKEN_NUMBER, NULL },
  [OCI_U32] = { store_integer, TOKEN_NUMBER, NULL },
  [OCI_U64] = { store_integer, TOKEN_NUMBER, NULL },
  [OCI_I32] = { store_integer, TOKEN_NUMBER, NULL },
  [OCI_I64] = { store_integer, TOKEN_NUMBER, NULL },
  [OCI_STRING] = { store_string, TOKEN_STRING, "expected a string" },
  [OCI_PATH] = { store_string, TOKEN_STRING, "expected a string" },
  [OCI_NAME] = { store_string, TOKEN_STRING, "expected a string" },
  [OCI_ANY] = { store_any, TOKEN_NULL, "" },
  [OCI_OBJECT] = { store_object, TOKEN_OBJECT, "expected an object" },
};

static bool store (struct parser *p, const struct oci_member *member, char *at,
                   const struct token *token)
{
  if (member->kind != OCI_ANY && token->type != kinds[member->kind].token)
    {
      wrong_type (p, token, member, kinds[member->kind].expected);
      return false;
    }
  return kinds[member->kind].store (p, member, at, token);
}

/* ---- values by the mode of the frame that they stand in ---- */

static void set_flag (const struct frame *f, const struct oci_member *member)
{
  *(bool *)(f->object + member->has_offset) = true;
}

static void open_list (struct parser *p, char *object, const struct oci_member *member,
                       bool is_array)
{
  struct frame *f = push (p, is_array ? MODE_ARRAY : MODE_MAP, is_array);

  if (f == NULL)
    return;
  f->object = object;
  f->member = member;
}

static void value_in_object (struct parser *p, struct frame *f, const struct token *token)
{
  const struct oci_member *member = f->member;

  if (member == NULL)
    {
      skip (p, token);
      return;
    }
  if (token->type == TOKEN_NULL)
    return;
  if (member->shape == OCI_ONE)
    {
      if (store (p, member, f->object + member->offset, token) && !oci_is_text (member->kind)
          && member->kind != OCI_OBJECT)
        set_flag (f, member);
      return;
    }
  if (token->type != (member->shape == OCI_ARRAY ? TOKEN_ARRAY : TOKEN_OBJECT))
    {
      wrong_type (p, token, member,
                  member->shape == OCI_ARRAY ? "expected an array" : "expected an object");
      return;
    }
  set_flag (f, member);
  open_list (p, f->object, member, member->shape == OCI_ARRAY);
}

/* Room for one more element in the list of F; NULL when memory is short.  */
static char *next_item (struct parser *p, struct frame *f)
{
  size_t size = oci_element_size (f->member);

  if (f->items_len == f->items_size)
    {
      size_t more = f->items_size > 0 ? f->items_size * 2 : 4;
      char *items = arena_grow (p->arena, f->items, f->items_size * size, more * size);

      if (items == NULL)
        return NULL;
      f->items = items;
      if (f->mode == MODE_MAP)
        {
          char **keys = arena_grow (p->arena, f->item_keys, f->items_size * sizeof *keys,
                                    more * sizeof *keys);

          if (keys == NULL)
            return NULL;
          f->item_keys = keys;
        }
      f->items_size = more;
    }
  return f->items + f->items_len * size;
}

static void value_in_list (struct parser *p, struct frame *f, const struct token *token)
{
  char *item = next_item (p, f);

  if (item != NULL && f->mode == MODE_MAP)
    {
      f->item_keys[f->items_len] = arena_strndup (p->arena, f->key, f->key_len);
      if (f->item_keys[f->items_len] == NULL)
        item = NULL;
    }
  if (item == NULL)
    {
      oci_parser_fail (p, -ENOMEM);
      return;
    }
  f->items_len++;
  if (token->type == TOKEN_NULL && f->member->kind == OCI_ANY)
    wrong_type (p, token, f->member, "expected a value, not null");
  else
    store (p, f->member, item, token);
}

static void value_in_skip (struct parser *p, struct frame *f, const struct token *token)
{
  (void)f;
  skip (p, token);
}

static void value_in_any (struct parser *p, struct frame *f, const struct token *token)
{
  if (f->is_array && f->count > 0)
    oci_text_puts (&p->any, ",");
  any_token (p, token);
}

static void (*const value_in[]) (struct parser *p, struct frame *f, const struct token *token) = {
  [MODE_OBJECT] = value_in_object, [MODE_ARRAY] = value_in_list, [MODE_MAP] = value_in_list,
  [MODE_SKIP] = value_in_skip,     [MODE_ANY] = value_in_any,
};

static void open_document (struct parser *p, const struct token *token)
{
  struct frame *f;

  if (token->type != TOKEN_OBJECT)
    {
      oci_parser_syntax_error (p, yajl_get_bytes_consumed (p->yajl),
                               "the document is not a JSON object");
      return;
    }
  p->root = arena_alloc (p->arena, p->type->size);
  f = push (p, MODE_OBJECT, false);
  if (p->root == NULL)
    oci_parser_fail (p, -ENOMEM);
  if (f == NULL)
    return;
  f->object = p->root;
  f->type = p->type;
}

static void value_done (struct parser *p)
{
  struct frame *f = top (p);

  f->count++;
  f->has_key = false;
}

int oci_parser_value (struct parser *p, const struct token *token)
{
  if (p->depth == 0)
    open_document (p, token);
  else
    {
      struct frame *f = top (p);

      value_in[f->mode](p, f, token);
      if (!is_container (token))
        value_done (p);
    }
  return p->error == 0;
}

static void close_list (const struct frame *f)
{
  struct oci_list list = { .items = f->items, .keys = f->item_keys, .len = f->items_len };

  oci_list_set (f->object, f->member, &list);
}

int oci_parser_end (struct parser *p)
{
  struct frame *f = top (p);

  if (f->mode == MODE_ARRAY || f->mode == MODE_MAP)
    close_list (f);
  if (f->mode == MODE_ANY)
    {
      oci_text_puts (&p->any, f->is_array ? "]" : "}");
      if (p->depth == p->any_depth)
        any_finish (p);
    }
  p->depth--;
  if (p->depth > 0)
    value_done (p);
  else
    p->end = yajl_get_bytes_consumed (p->yajl);
  return p->error == 0;
}
