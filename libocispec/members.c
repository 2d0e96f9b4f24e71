/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the members of a struct by the type tables.
   Runs in any process, needs no privileges.  */
#include "internal.h"

static const size_t sizes[] = {
  [OCI_BOOL] = sizeof (bool),     [OCI_U16] = sizeof (uint16_t),  [OCI_U32] = sizeof (uint32_t),
  [OCI_U64] = sizeof (uint64_t),  [OCI_I32] = sizeof (int32_t),   [OCI_I64] = sizeof (int64_t),
  [OCI_STRING] = sizeof (char *), [OCI_PATH] = sizeof (char *),   [OCI_NAME] = sizeof (char *),
  [OCI_ANY] = sizeof (char *),    [OCI_OBJECT] = sizeof (void *),
};

size_t oci_element_size (const struct oci_member *member)
{
  if (member->kind == OCI_OBJECT)
    return member->type->size;
  return sizes[member->kind];
}

bool oci_is_text (enum oci_kind kind)
{
  return kind == OCI_STRING || kind == OCI_PATH || kind == OCI_NAME || kind == OCI_ANY;
}

bool oci_is_present (const char *object, const struct oci_member *member)
{
  if (member->shape == OCI_ONE && (oci_is_text (member->kind) || member->kind == OCI_OBJECT))
    return oci_load_pointer (object + member->offset) != NULL;
  return *(const bool *)(object + member->has_offset);
}

struct oci_list oci_list_of (const char *object, const struct oci_member *member)
{
  const char *at = object + member->offset;
  struct oci_list list = { 0 };

  if (member->shape == OCI_ARRAY)
    {
      list.items = oci_load_pointer (at);
      list.len = *(const size_t *)(object + member->len_offset);
    }
  else
    {
      list.items = oci_load_pointer (at + offsetof (struct oci_map, values));
      list.keys = *(char **const *)(at + offsetof (struct oci_map, keys));
      list.len = *(const size_t *)(at + offsetof (struct oci_map, len));
    }
  return list;
}

void oci_list_set (char *object, const struct oci_member *member, const struct oci_list *list)
{
  char *at = object + member->offset;

  if (member->shape == OCI_ARRAY)
    {
      oci_store_pointer (at, list->items);
      *(size_t *)(object + member->len_offset) = list->len;
    }
  else
    {
      oci_store_pointer (at + offsetof (struct oci_map, values), list->items);
      *(char ***)(at + offsetof (struct oci_map, keys)) = list->keys;
      *(size_t *)(at + offsetof (struct oci_map, len)) = list->len;
    }
}
