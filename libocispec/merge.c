/* SPDX-License-Identifier: Apache-2.0 */
/* One struct laid over another.  Runs in any process, needs no privileges.  */
#include "internal.h"

/* The place of KEY, or where a new one goes.  */
static size_t find_key (const struct oci_list *list, const char *key)
{
  size_t i = 0;

  while (i < list->len && strcmp (list->keys[i], key) != 0)
    i++;
  return i;
}

static bool merge_map (const struct oci_member *member, struct arena *arena, char *object,
                       const char *over)
{
  struct oci_list base = oci_list_of (object, member), new = oci_list_of (over, member), all;
  size_t size = oci_element_size (member);

  all.len = base.len;
  all.keys = arena_alloc_array (arena, base.len + new.len, sizeof *all.keys);
  all.items = arena_alloc_array (arena, base.len + new.len, size);
  if (all.keys == NULL || all.items == NULL)
    return false;
  for (size_t i = 0; i < base.len; i++)
    all.keys[i] = base.keys[i];
  if (base.len > 0)
    memcpy (all.items, base.items, base.len * size);
  for (size_t i = 0; i < new.len; i++)
    {
      size_t at = find_key (&all, new.keys[i]);

      all.keys[at] = new.keys[i];
      memcpy (all.items + at * size, new.items + i *size, size);
      all.len += at == all.len;
    }
  oci_list_set (object, member, &all);
  *(bool *)(object + member->has_offset) = true;
  return true;
}

static bool merge_members (const struct oci_type *type, struct arena *arena, char *object,
                           const char *over);

static bool merge_one (const struct oci_member *member, struct arena *arena, char *object,
                       const char *over)
{
  void *mine = member->kind == OCI_OBJECT ? oci_load_pointer (object + member->offset) : NULL;

  if (mine != NULL)
    return merge_members (member->type, arena, mine, oci_load_pointer (over + member->offset));
  if (member->kind == OCI_OBJECT)
    {
      oci_store_pointer (object + member->offset, oci_load_pointer (over + member->offset));
      return true;
    }
  memcpy (object + member->offset, over + member->offset, oci_element_size (member));
  if (!oci_is_text (member->kind))
    *(bool *)(object + member->has_offset) = true;
  return true;
}

/* Both belong to the caller: OBJECT is changed in place and takes over what OVER points to.  */
static bool merge_members (const struct oci_type *type, struct arena *arena, char *object,
                           const char *over)
{
  for (size_t i = 0; i < type->members_len; i++)
    {
      const struct oci_member *member = &type->members[i];

      if (!oci_is_present (over, member))
        continue;
      if (member->shape == OCI_ONE)
        {
          if (!merge_one (member, arena, object, over))
            return false;
        }
      else if (member->shape == OCI_MAP)
        {
          if (!merge_map (member, arena, object, over))
            return false;
        }
      else
        {
          struct oci_list list = oci_list_of (over, member);

          oci_list_set (object, member, &list);
          *(bool *)(object + member->has_offset) = true;
        }
    }
  return true;
}

void *oci_merge (const struct oci_type *type, struct arena *arena, const void *base,
                 const void *over)
{
  void *object = oci_clone (type, arena, base);
  void *top = oci_clone (type, arena, over);

  if (object == NULL || top == NULL)
    return NULL;
  return merge_members (type, arena, object, top) ? object : NULL;
}
