/* SPDX-License-Identifier: Apache-2.0 */
/* Deep copies of C structs.  Runs in any process, needs no privileges.  */
#include "internal.h"

static bool clone_members (const struct oci_type *type, struct arena *arena, char *object);

/* Makes the pointers at AT, which still lead into the original, lead to copies.  */
static bool clone_value (const struct oci_member *member, struct arena *arena, char *at)
{
  if (member->kind == OCI_OBJECT)
    return clone_members (member->type, arena, at);
  if (oci_is_text (member->kind) && oci_load_pointer (at) != NULL)
    {
      char *copy = arena_strdup (arena, oci_load_pointer (at));

      if (copy == NULL)
        return false;
      oci_store_pointer (at, copy);
    }
  return true;
}

static bool clone_keys (struct oci_list *list, struct arena *arena)
{
  char **keys = arena_alloc_array (arena, list->len, sizeof *keys);

  if (keys == NULL)
    return false;
  for (size_t i = 0; i < list->len; i++)
    {
      keys[i] = arena_strdup (arena, list->keys[i]);
      if (keys[i] == NULL)
        return false;
    }
  list->keys = keys;
  return true;
}

static bool clone_list (const struct oci_member *member, struct arena *arena, char *object)
{
  struct oci_list list = oci_list_of (object, member);
  size_t size = oci_element_size (member);
  char *items;

  if (list.len == 0)
    {
      list = (struct oci_list){ 0 };
      oci_list_set (object, member, &list);
      return true;
    }
  items = arena_alloc_array (arena, list.len, size);
  if (items == NULL)
    return false;
  memcpy (items, list.items, list.len * size);
  list.items = items;
  if (member->shape == OCI_MAP && !clone_keys (&list, arena))
    return false;
  for (size_t i = 0; i < list.len; i++)
    if (!clone_value (member, arena, items + i * size))
      return false;
  oci_list_set (object, member, &list);
  return true;
}

static bool clone_members (const struct oci_type *type, struct arena *arena, char *object)
{
  for (size_t i = 0; i < type->members_len; i++)
    {
      const struct oci_member *member = &type->members[i];
      char *at = object + member->offset;

      if (!oci_is_present (object, member))
        continue;
      if (member->shape != OCI_ONE)
        {
          if (!clone_list (member, arena, object))
            return false;
        }
      else if (member->kind == OCI_OBJECT)
        {
          void *copy = oci_clone (member->type, arena, oci_load_pointer (at));

          if (copy == NULL)
            return false;
          oci_store_pointer (at, copy);
        }
      else if (!clone_value (member, arena, at))
        return false;
    }
  return true;
}

void *oci_clone (const struct oci_type *type, struct arena *arena, const void *object)
{
  char *copy = arena_alloc (arena, type->size);

  if (copy == NULL)
    return NULL;
  memcpy (copy, object, type->size);
  return clone_members (type, arena, copy) ? copy : NULL;
}
