/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of resolve, found by the pointer under which query asked.  Pure code.  */
#include "policy/internal.h"

/* Where the kernel puts ids that a user namespace doesn't map (user_namespaces(7)).  */
#define OVERFLOW_ID 65534

const struct fact_hook *fact_hook_find (const struct facts *facts, const char *pointer)
{
  for (size_t i = 0; i < facts->hooks_len; i++)
    if (str_equal (facts->hooks[i].pointer, pointer))
      return &facts->hooks[i];
  return NULL;
}

bool fact_uid_is_root (const struct facts *facts, uint32_t uid)
{
  if (uid == 0)
    return true;
  /* Inside of a user namespace, root of the host shows as the overflow id.  Only where resolve says
     so: an absent answer counts as the initial namespace.  */
  return uid == OVERFLOW_ID && facts_are_rootless (facts);
}

static bool directory_trusted (const struct facts *facts, const struct fact_directory *dir,
                               uint32_t root_uid)
{
  if (!dir->has_uid || !dir->has_mode || !dir->has_gid)
    return false;
  if (!fact_uid_is_root (facts, dir->uid) && dir->uid != root_uid)
    return false;
  /* In a sticky directory nobody but the owner can replace an entry (unlink(2)).  */
  if ((dir->mode & 01000) != 0)
    return true;
  return (dir->mode & 0002) == 0 && ((dir->mode & 0020) == 0 || dir->gid == 0);
}

bool fact_chain_trusted (const struct facts *facts, const struct fact_directory *chain, size_t len,
                         uint32_t root_uid)
{
  if (len == 0)
    return false;
  for (size_t i = 0; i < len; i++)
    if (!directory_trusted (facts, &chain[i], root_uid))
      return false;
  return true;
}
