/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the groups of a container.  Runs in the command that deletes it or whose create failed,
   as owner of the groups.  The workload may have made groups below; a killed process stays in its
   group until it is gone, and the kernel says EBUSY until then.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define REMOVE_MS 5000
/* An init whose create was killed just after it was cloned dies by itself, but not at once.  */
#define DYING_MS 1000

static bool is_busy (int r) { return r == -EBUSY || r == -ENOTEMPTY; }

/* One group below; a busy one is left to the next round, the walk goes on.  */
static int remove_child (int parent, const char *name, void *data, struct error *err)
{
  int *worst = data;
  int r = unlinkat (parent, name, AT_REMOVEDIR) == 0 ? 0 : -errno;

  (void)err;
  if (r < 0 && r != -ENOENT && (*worst == 0 || is_busy (*worst)))
    *worst = r;
  return 0;
}

/* By its own descriptor's parent, and only if that name is still this directory.  */
static int remove_top (const struct cgroup_dir *dir)
{
  char up[NAME_MAX + sizeof "../"];
  const char *slash = strrchr (dir->path, '/');
  struct stat mine, named;

  if (slash == NULL || slash[1] == '\0' || strlen (slash) > NAME_MAX)
    return -EINVAL;
  snprintf (up, sizeof up, "..%s", slash);
  if (fstat (dir->fd, &mine) < 0 || fstatat (dir->fd, up, &named, AT_SYMLINK_NOFOLLOW) < 0)
    return -errno;
  if (named.st_dev != mine.st_dev || named.st_ino != mine.st_ino)
    return -ENOENT;
  return unlinkat (dir->fd, up, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* 0 when gone, -EBUSY when something is left in it.  Most have no groups below: those are looked
   for only when the kernel says that it is busy.  */
static int remove_dir (const struct cgroup_dir *dir, struct error *err)
{
  int worst = 0;
  struct walk_calls calls = { .leave = remove_child, .data = &worst };
  int r = remove_top (dir);

  if (is_busy (r))
    {
      r = walk_groups (dir->fd, &calls, err);
      if (r < 0)
        return r;
      r = worst < 0 && !is_busy (worst) ? worst : remove_top (dir);
    }
  if (r == 0 || r == -ENOENT || r == -ENODEV)
    return 0;
  return error_errno (err, -r, "remove the cgroup %s", dir->path);
}

/* One round over all.  Returns the first failure that isn't EBUSY, else -EBUSY, else 0.  */
static int remove_round (struct cgroup *cg, struct error *err)
{
  int result = 0;

  for (size_t i = 0; i < cg->len; i++)
    {
      int r = remove_dir (&cg->dirs[i], result == 0 || is_busy (result) ? err : NULL);
      if (r < 0 && (result == 0 || (is_busy (result) && !is_busy (r))))
        result = r;
    }
  return result;
}

int cgroup_remove (struct cgroup *cg, struct error *err)
{
  int64_t deadline = monotonic_ms () + REMOVE_MS;
  unsigned pause_ms = 1;
  int r = remove_round (cg, err);

  while (is_busy (r) && monotonic_ms () < deadline)
    {
      struct error kill_error = { 0 };
      if (cgroup_kill_all (cg, SIGKILL, &kill_error) < 0)
        return error_set (err, kill_error.code, "%s", kill_error.message);
      wait_and_double (&pause_ms);
      r = remove_round (cg, err);
    }
  if (r < 0)
    return is_busy (r) ? error_context (err, "processes are left after %d ms", REMOVE_MS) : r;
  /* Parents that this process made itself go too, if nobody else uses them by now.  */
  group_undo_parents (cg);
  return 0;
}

/* -EBUSY when one of them holds something.  */
static int remove_empty_round (const struct hierarchies *h, const char *path, struct error *err)
{
  int result = 0;

  for (size_t i = 0; i < h->len; i++)
    {
      if (unlinkat (h->list[i].fd, path, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTDIR)
        continue;
      if (!is_busy (-errno))
        return error_errno (err, errno, "remove the cgroup %s", path);
      result = -EBUSY;
    }
  return result;
}

int cgroup_remove_empty (const char *path, struct error *err)
{
  cleanup_hierarchies struct hierarchies found = { 0 };
  int64_t deadline = monotonic_ms () + DYING_MS;
  unsigned pause_ms = 1;
  int r = hierarchies_find (&found, err);

  if (r < 0)
    return r;
  while (*path == '/')
    path++;
  r = *path != '\0' ? remove_empty_round (&found, path, err) : 0;
  while (r == -EBUSY && monotonic_ms () < deadline)
    {
      wait_and_double (&pause_ms);
      r = remove_empty_round (&found, path, err);
    }
  return r == -EBUSY ? 0 : r;
}
