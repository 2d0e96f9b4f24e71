/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over a group and all below it, by descriptor.  The workload may have made those groups, so
   neither their number, depth nor life-time is to be relied on: one descriptor at a time is held,
   since a deep tree would use them up.  */
#include "cgroup/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 2048

struct names
{
  char **list;
  size_t len;
};

static void names_free (struct names *n)
{
  for (size_t i = 0; i < n->len; i++)
    free (n->list[i]);
  free (n->list);
}

static int names_add (struct names *n, const char *name)
{
  char **list = realloc (n->list, (n->len + 1) * sizeof (*list));

  if (list == NULL)
    return -ENOMEM;
  n->list = list;
  list[n->len] = strdup (name);
  if (list[n->len] == NULL)
    return -ENOMEM;
  n->len++;
  return 0;
}

static int read_children (int dirfd, struct names *ret)
{
  cleanup_close int fd = openat (dirfd, ".", DIRECTORY);
  cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir (fd);

  if (dir == NULL)
    return -errno;
  steal_fd (&fd);
  for (;;)
    {
      errno = 0;
      struct dirent *entry = readdir (dir);
      if (entry == NULL)
        return -errno;
      if (entry->d_type != DT_DIR || strcmp (entry->d_name, ".") == 0
          || strcmp (entry->d_name, "..") == 0)
        continue;
      if (names_add (ret, entry->d_name) < 0)
        return -ENOMEM;
    }
}

static bool has_vanished (int r) { return r == -ENOENT || r == -ENODEV; }

/* From the child *CUR back to the directory that PARENT describes.  */
static int ascend (int *cur, const struct stat *parent)
{
  struct stat st;
  cleanup_close int up = openat (*cur, "..", DIRECTORY);

  if (up < 0 || fstat (up, &st) < 0)
    return -errno;
  if (st.st_dev != parent->st_dev || st.st_ino != parent->st_ino)
    return -ESTALE;
  cleanup_closep (cur);
  *cur = steal_fd (&up);
  return 0;
}

static int walk_level (int *cur, unsigned depth, const struct walk_calls *calls, struct error *err);

static int walk_child (int *cur, const char *name, unsigned depth, const struct walk_calls *calls,
                       struct error *err)
{
  struct stat here;
  cleanup_close int child = openat (*cur, name, DIRECTORY);

  if (child < 0 && has_vanished (-errno))
    return 0;
  if (child < 0 || fstat (*cur, &here) < 0)
    return error_errno (err, errno, "open the cgroup %s", name);
  cleanup_closep (cur);
  *cur = steal_fd (&child);

  int r = walk_level (cur, depth + 1, calls, err);
  if (r < 0)
    return r;
  r = ascend (cur, &here);
  if (r < 0)
    return error_errno (err, -r, "go back from the cgroup %s to its parent", name);
  return calls->leave == NULL ? 0 : calls->leave (*cur, name, calls->data, err);
}

static int walk_level (int *cur, unsigned depth, const struct walk_calls *calls, struct error *err)
{
  __attribute__ ((cleanup (names_free))) struct names names = { 0 };
  int r = calls->enter == NULL ? 0 : calls->enter (*cur, calls->data, err);

  if (r < 0)
    return r;
  r = read_children (*cur, &names);
  if (r < 0 && !has_vanished (r))
    return error_errno (err, -r, "list the groups in a cgroup");
  if (names.len > 0 && depth >= DEPTH_MAX)
    return error_set (err, -ELOOP, "cgroups are nested deeper than %d", DEPTH_MAX);
  for (size_t i = 0; i < names.len; i++)
    {
      r = walk_child (cur, names.list[i], depth, calls, err);
      if (r < 0)
        return r;
    }
  return 0;
}

int walk_groups (int dirfd, const struct walk_calls *calls, struct error *err)
{
  cleanup_close int cur = openat (dirfd, ".", DIRECTORY);

  if (cur < 0 && has_vanished (-errno))
    return 0;
  if (cur < 0)
    return error_errno (err, errno, "open a cgroup");
  return walk_level (&cur, 0, calls, err);
}
