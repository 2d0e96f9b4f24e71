/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the text of id maps, the files in which they are written, and the change to an id of a new
   user namespace.  userns_write_maps runs in the parent (CAP_SETUID, CAP_SETGID over its own user
   namespace), userns_become in init.  */

#include "linux/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/process.h"
#include "linux/procfs.h"

/* PROC_USER_INIT_INO of the kernel: this inode is part of its interface.  */
#define INITIAL_USER_NAMESPACE 0xEFFFFFFDU

static bool ranges_meet (uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
  return (uint64_t)a < (uint64_t)b + b_count && (uint64_t)b < (uint64_t)a + a_count;
}

static bool is_range (const struct id_range *r)
{
  /* 4294967295 is no id: it means "unchanged".  */
  return r->count > 0 && (uint64_t)r->inside + r->count <= UINT32_MAX
         && (uint64_t)r->outside + r->count <= UINT32_MAX;
}

static int check_ranges (const struct id_range *ranges, size_t n, const char *what,
                         struct error *err)
{
  if (n == 0)
    return error_set (err, -EINVAL, "%s is empty: a new user namespace needs a map", what);
  if (n > USERNS_RANGES_MAX)
    return error_set (err, -E2BIG, "%s has %zu ranges, the kernel takes at most %d", what, n,
                      USERNS_RANGES_MAX);
  for (size_t i = 0; i < n; i++)
    {
      if (!is_range (&ranges[i]))
        return error_set (err, -EINVAL, "%s[%zu] is empty or goes beyond the last id", what, i);
      for (size_t k = 0; k < i; k++)
        if (ranges_meet (ranges[i].inside, ranges[i].count, ranges[k].inside, ranges[k].count)
            || ranges_meet (ranges[i].outside, ranges[i].count, ranges[k].outside, ranges[k].count))
          return error_set (err, -EINVAL, "%s[%zu] and %s[%zu] overlap", what, k, what, i);
    }
  return 0;
}

int userns_map_text (const struct id_range *ranges, size_t n, const char *what, char **ret,
                     struct error *err)
{
  cleanup_strbuf struct strbuf text = { 0 };
  int r = check_ranges (ranges, n, what, err);
  if (r < 0)
    return r;
  for (size_t i = 0; i < n; i++)
    strbuf_printf (&text, "%u %u %u\n", ranges[i].inside, ranges[i].outside, ranges[i].count);
  if (text.failed)
    return error_errno (err, ENOMEM, "write the map of %s", what);
  /* The kernel takes less than a page, and only one write.  */
  if (text.len >= (size_t)sysconf (_SC_PAGESIZE))
    return error_set (err, -E2BIG, "%s is %zu bytes long as a map, the kernel takes less than %ld",
                      what, text.len, sysconf (_SC_PAGESIZE));
  *ret = steal_ptr (&text.data);
  return 0;
}

static int write_map (int procfd, pid_t pid, const char *file, const char *text, struct error *err)
{
  char path[48];
  snprintf (path, sizeof (path), "%d/%s", (int)pid, file);
  int r = procfs_write (procfd, path, text, err);
  return r < 0 ? error_context (err, "map the ids of the user namespace") : 0;
}

int userns_write_maps (int procfd, pid_t pid, const struct userns_maps *maps, struct error *err)
{
  cleanup_free char *uids = NULL;
  cleanup_free char *gids = NULL;
  int r = userns_map_text (maps->uids, maps->uids_len, "linux.uidMappings", &uids, err);
  if (r == 0)
    r = userns_map_text (maps->gids, maps->gids_len, "linux.gidMappings", &gids, err);
  if (r == 0)
    r = write_map (procfd, pid, "gid_map", gids, err);
  return r < 0 ? r : write_map (procfd, pid, "uid_map", uids, err);
}

int userns_become (uid_t uid, gid_t gid, int procfd, struct error *err)
{
  if (setgroups (0, NULL) < 0 && (errno != EPERM || !userns_denies_setgroups (procfd)))
    return error_errno (err, errno, "drop the groups of the caller in the user namespace");
  if (setresgid (gid, gid, gid) < 0)
    return error_errno (err, errno, "become gid %u of the user namespace", gid);
  if (setresuid (uid, uid, uid) < 0)
    return error_errno (err, errno, "become uid %u of the user namespace", uid);
  /* A change of user makes the process as dumpable as fs.suid_dumpable says.  */
  return process_set_undumpable (err);
}

int userns_join_owned (int procfd, pid_t pid, bool parent, struct error *err)
{
  char path[48];
  snprintf (path, sizeof path, "%d/ns/user", (int)pid);
  cleanup_close int own = openat (procfd, path, O_RDONLY | O_CLOEXEC);
  if (own < 0)
    return error_errno (err, errno, "open the container's user namespace");
  cleanup_close int above = parent ? ioctl (own, NS_GET_PARENT) : -1;
  if (parent && above < 0)
    return error_errno (err, errno, "find the user namespace above the container's");
  if (setns (parent ? above : own, CLONE_NEWUSER) < 0)
    return error_errno (err, errno, "enter the user namespace that the container was made in");
  return userns_become (0, 0, procfd, err);
}

bool userns_is_initial (void)
{
  struct stat st;
  return stat ("/proc/self/ns/user", &st) == 0 && st.st_ino == INITIAL_USER_NAMESPACE;
}

bool userns_denies_setgroups (int procfd)
{
  cleanup_free char *text = NULL;
  size_t len;
  return procfs_read (procfd, "self/setgroups", 64, &text, &len, NULL) == 0
         && str_has_prefix (text, "deny");
}
