/* SPDX-License-Identifier: Apache-2.0 */
/* C structs to JSON text.
   Runs in any process, needs no privileges.  */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct emitter
{
  struct oci_text text;
  bool pretty;
  size_t depth;
};

static void emit_object (struct emitter *e, const struct oci_type *type, const char *object);

static void new_line (struct emitter *e)
{
  if (!e->pretty)
    return;
  oci_text_puts (&e->text, "\n");
  oci_text_repeat (&e->text, ' ', 2 * e->depth);
}

static void open_container (struct emitter *e, const char *bracket)
{
  oci_text_puts (&e->text, bracket);
  e->depth++;
}

static void close_container (struct emitter *e, const char *bracket, bool empty)
{
  e->depth--;
  if (!empty)
    new_line (e);
  oci_text_puts (&e->text, bracket);
}

/* What stands before the INDEX-th value of a container.  */
static void separate (struct emitter *e, size_t index, const char *name, size_t name_len)
{
  if (index > 0)
    oci_text_puts (&e->text, ",");
  new_line (e);
  if (name == NULL)
    return;
  oci_text_quote (&e->text, name, name_len);
  oci_text_puts (&e->text, e->pretty ? ": " : ":");
}

static void emit_integer (struct emitter *e, const struct oci_member *member, const char *at)
{
  bool is_signed = member->kind == OCI_I32 || member->kind == OCI_I64;
  char number[32];
  uint64_t value = 0;

  if (member->kind == OCI_I32)
    {
      int32_t narrow;

      memcpy (&narrow, at, sizeof narrow);
      value = (uint64_t)(int64_t)narrow;
    }
  else if (member->kind == OCI_U16)
    {
      uint16_t narrow;

      memcpy (&narrow, at, sizeof narrow);
      value = narrow;
    }
  else if (member->kind == OCI_U32)
    {
      uint32_t narrow;

      memcpy (&narrow, at, sizeof narrow);
      value = narrow;
    }
  else
    memcpy (&value, at, sizeof value);
  if (is_signed)
    snprintf (number, sizeof number, "%" PRId64, (int64_t)value);
  else
    snprintf (number, sizeof number, "%" PRIu64, value);
  oci_text_puts (&e->text, number);
}

static void emit_text (struct emitter *e, const struct oci_member *member, const char *at)
{
  const char *s = oci_load_pointer (at);

  if (s == NULL)
    e->text.error = e->text.error != 0 ? e->text.error : -EINVAL;
  else if (member->kind == OCI_ANY)
    oci_text_puts (&e->text, s);
  else
    oci_text_quote (&e->text, s, strlen (s));
}

/* One value of MEMBER's kind at AT; an object itself, not the pointer to it.  */
static void emit_value (struct emitter *e, const struct oci_member *member, const char *at)
{
  if (member->kind == OCI_OBJECT)
    emit_object (e, member->type, at);
  else if (oci_is_text (member->kind))
    emit_text (e, member, at);
  else if (member->kind == OCI_BOOL)
    oci_text_puts (&e->text, *(const bool *)at ? "true" : "false");
  else
    emit_integer (e, member, at);
}

static void emit_list (struct emitter *e, const struct oci_member *member,
                       const struct oci_list *list)
{
  bool is_array = member->shape == OCI_ARRAY;

  open_container (e, is_array ? "[" : "{");
  for (size_t i = 0; i < list->len; i++)
    {
      const char *key = is_array ? NULL : list->keys[i];

      separate (e, i, key, key != NULL ? strlen (key) : 0);
      emit_value (e, member, list->items + i * oci_element_size (member));
    }
  close_container (e, is_array ? "]" : "}", list->len == 0);
}

static void emit_object (struct emitter *e, const struct oci_type *type, const char *object)
{
  size_t count = 0;

  open_container (e, "{");
  for (size_t i = 0; i < type->members_len; i++)
    {
      const struct oci_member *member = &type->members[i];
      const char *at = object + member->offset;

      if (!oci_is_present (object, member))
        continue;
      separate (e, count++, member->name, member->name_len);
      if (member->shape != OCI_ONE)
        {
          struct oci_list list = oci_list_of (object, member);

          emit_list (e, member, &list);
        }
      else
        emit_value (e, member, member->kind == OCI_OBJECT ? oci_load_pointer (at) : at);
    }
  close_container (e, "}", count == 0);
}

int oci_emit (const struct oci_type *type, const void *object, unsigned flags, struct arena *arena,
              char **ret_json, size_t *ret_len)
{
  struct emitter e = { .pretty = (flags & OCI_PRETTY) != 0 };
  size_t len;
  char *json;
  int r;

  emit_object (&e, type, object);
  len = e.text.len;
  r = e.text.error;
  json = oci_text_copy (&e.text, arena);
  oci_text_free (&e.text);
  if (r < 0 || json == NULL)
    return r < 0 ? r : -ENOMEM;
  *ret_json = json;
  if (ret_len != NULL)
    *ret_len = len;
  return 0;
}
