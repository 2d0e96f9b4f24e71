/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the change of identity.  Runs in init and in a joining process, between the two halves of
   caps.h; needs CAP_SETUID and CAP_SETGID.  */

#include "linux/user.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "linux/userns.h"

static int compare_gids (const void *a, const void *b)
{
  gid_t x = *(const gid_t *)a, y = *(const gid_t *)b;
  return x < y ? -1 : x > y;
}

/* The kernel sorts the list, so both are compared sorted.  */
static int verify_groups (const gid_t *groups, size_t n, struct error *err)
{
  cleanup_free gid_t *wanted = calloc (n + 1, sizeof (gid_t));
  cleanup_free gid_t *now = calloc (n + 1, sizeof (gid_t));
  if (wanted == NULL || now == NULL)
    return error_errno (err, ENOMEM, "verify supplementary groups");
  if (n > 0)
    memcpy (wanted, groups, n * sizeof (gid_t));
  /* A longer list than asked is EINVAL from getgroups.  */
  int count = getgroups ((int)n + 1, now);
  if (count < 0 && errno != EINVAL)
    return error_errno (err, errno, "read the supplementary groups back");
  qsort (wanted, n, sizeof (gid_t), compare_gids);
  if (count == (int)n)
    qsort (now, n, sizeof (gid_t), compare_gids);
  if (count != (int)n || memcmp (now, wanted, n * sizeof (gid_t)) != 0)
    return error_set (err, -EPERM, "the supplementary groups are not those asked for");
  return 0;
}

static int verify_ids (uid_t uid, gid_t gid, struct error *err)
{
  uid_t u[3];
  gid_t g[3];
  if (getresuid (&u[0], &u[1], &u[2]) < 0 || getresgid (&g[0], &g[1], &g[2]) < 0)
    return error_errno (err, errno, "read the user back");
  for (int i = 0; i < 3; i++)
    if (u[i] != uid || g[i] != gid)
      return error_set (err, -EPERM, "the user is %u:%u in place of %u:%u", u[i], g[i], uid, gid);
  return 0;
}

int user_set_groups (const gid_t *groups, size_t n, int procfd, struct error *err)
{
  if (setgroups (n, groups) == 0)
    return verify_groups (groups, n, err);
  int saved = errno;
  if (saved != EPERM || !userns_denies_setgroups (procfd))
    return error_errno (err, saved, "set %zu supplementary groups", n);
  if (n > 0)
    return error_set (err, -EPERM,
                      "process.user.additionalGids: the groups can't be set, because this user "
                      "namespace denies setgroups; a user with sub-ids (/etc/subgid) can");
  return 0;
}

int user_set (uid_t uid, gid_t gid, const gid_t *groups, size_t n, mode_t umask_value, int procfd,
              struct error *err)
{
  if (uid == (uid_t)-1 || gid == (gid_t)-1)
    return error_set (err, -EINVAL, "user %u:%u: 4294967295 is not an id", uid, gid);
  for (size_t i = 0; i < n; i++)
    if (groups[i] == (gid_t)-1)
      return error_set (err, -EINVAL, "supplementary group 4294967295 is not an id");

  int r = user_set_groups (groups, n, procfd, err);
  if (r < 0)
    return r;
  if (setresgid (gid, gid, gid) < 0)
    return error_errno (err, errno, "set gid %u", gid);
  if (setresuid (uid, uid, uid) < 0)
    return error_errno (err, errno, "set uid %u", uid);
  umask (umask_value & 0777);

  return verify_ids (uid, gid, err);
}
