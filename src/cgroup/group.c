/* SPDX-License-Identifier: Apache-2.0 */
/* The set of groups of one container: opening it from a record, asking it, putting a process in.
   Runs in the parent and wherever a recorded container is handled, as an owner of the groups.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool list_has (const char *words, const char *separators, const char *word)
{
  size_t len = strlen (word);

  while (words != NULL && *words != '\0')
    {
      size_t n = strcspn (words, separators);
      if (n == len && n > 0 && memcmp (words, word, n) == 0)
        return true;
      words += n;
      words += strspn (words, separators);
    }
  return false;
}

struct cgroup *group_new (size_t n)
{
  struct cgroup *cg = calloc (1, sizeof (*cg));

  if (cg == NULL)
    return NULL;
  cg->dirs = calloc (n + 1, sizeof (*cg->dirs));
  cg->doors = malloc ((n + 1) * sizeof (*cg->doors));
  if (cg->dirs == NULL || cg->doors == NULL)
    {
      cgroup_close (cg);
      return NULL;
    }
  return cg;
}

int group_add (struct cgroup *cg, const char *controllers, const char *path, int fd, unsigned made,
               struct error *err)
{
  cleanup_close int owned = fd;
  cleanup_free char *own_controllers = strdup (controllers);
  cleanup_free char *own_path = strdup (path);

  if (own_controllers == NULL || own_path == NULL)
    return error_errno (err, ENOMEM, "note the cgroup %s", path);
  cg->dirs[cg->len] = (struct cgroup_dir){
    .controllers = steal_ptr (&own_controllers),
    .path = steal_ptr (&own_path),
    .fd = steal_fd (&owned),
    .made = made,
  };
  cg->doors[cg->len++] = -1;
  return 0;
}

void cgroup_close (struct cgroup *cg)
{
  if (cg == NULL)
    return;
  cgroup_close_doors (cg);
  int fds[HIERARCHIES_AT_ONCE];
  size_t n = 0;
  for (size_t i = 0; i < cg->len; i++)
    {
      free ((char *)cg->dirs[i].controllers);
      free ((char *)cg->dirs[i].path);
      fds[n++] = cg->dirs[i].fd;
      if (n == ARRAY_SIZE (fds) || i + 1 == cg->len)
        {
          fd_close_many (fds, n);
          n = 0;
        }
    }
  free (cg->dirs);
  free (cg->doors);
  free (cg);
}

/* A record is trusted as far as its directory is, but not to name what a group is: whatever lies at
   PATH must be a cgroup directory before it is written to or emptied.  */
static int open_group (const char *path, bool v2, int *ret_fd, struct error *err)
{
  struct statfs fs;
  cleanup_close int fd = open (path, DIRECTORY);

  if (fd < 0)
    return error_errno (err, errno, "open the cgroup %s", path);
  if (fstatfs (fd, &fs) < 0)
    return error_errno (err, errno, "look at the cgroup %s", path);
  if (fs.f_type != (v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
    return error_set (err, -EINVAL, "open the cgroup %s: not a directory of a cgroup%s file system",
                      path, v2 ? "2" : "");
  *ret_fd = steal_fd (&fd);
  return 0;
}

static void closep (struct cgroup **cg) { cgroup_close (*cg); }

int cgroup_open (const char *const *controllers, const char *const *paths, size_t n,
                 struct cgroup **ret, struct error *err)
{
  __attribute__ ((cleanup (closep))) struct cgroup *cg = group_new (n);
  bool v1 = false, v2 = false;

  if (cg == NULL)
    return error_errno (err, ENOMEM, "open the container's cgroups");
  for (size_t i = 0; i < n; i++)
    {
      bool is_v2 = controllers[i][0] == '\0';
      int fd = -1;
      int r = open_group (paths[i], is_v2, &fd, err);

      v1 |= !is_v2;
      v2 |= is_v2;
      if (r == -ENOENT || r == -ENODEV)
        continue;
      if (r < 0)
        return r;
      r = group_add (cg, controllers[i], paths[i], fd, 0, err);
      if (r < 0)
        return r;
    }
  cg->mode = v1 && v2 ? CGROUP_HYBRID : v2 ? CGROUP_V2 : CGROUP_V1;
  *ret = steal_ptr (&cg);
  return 0;
}

void cgroup_note_made (struct cgroup *cg, const char *path, unsigned made)
{
  for (size_t i = 0; i < cg->len; i++)
    if (strcmp (cg->dirs[i].path, path) == 0)
      cg->dirs[i].made = made;
}

enum cgroup_mode cgroup_mode (const struct cgroup *cg) { return cg->mode; }

size_t cgroup_dirs (const struct cgroup *cg, const struct cgroup_dir **ret)
{
  *ret = cg->dirs;
  return cg->len;
}

const struct cgroup_dir *group_find_v1 (const struct cgroup *cg, const char *name)
{
  for (size_t i = 0; i < cg->len; i++)
    if (list_has (cg->dirs[i].controllers, ",", name))
      return &cg->dirs[i];
  return NULL;
}

const struct cgroup_dir *group_find_v2 (const struct cgroup *cg)
{
  for (size_t i = 0; i < cg->len; i++)
    if (cg->dirs[i].controllers[0] == '\0')
      return &cg->dirs[i];
  return NULL;
}

int cgroup_v2_fd (const struct cgroup *cg)
{
  const struct cgroup_dir *dir = group_find_v2 (cg);

  return dir == NULL ? -1 : dir->fd;
}

/* What the kernel means, where the errno alone would leave a user guessing.  cgroups(7).  */
static const struct
{
  int errnum;
  const char *meaning;
} attach_errors[] = {
  { EBUSY, " (controllers are enabled for groups below it, so it takes no process)" },
  { EOPNOTSUPP, " (it is a threaded group or below one)" },
  { ENOSPC, " (its cpuset has no cpus or no mems)" },
  { ENODEV, " (the group was removed)" },
  { EAGAIN, " (a realtime process needs cpu.realtimeRuntime)" },
};

static int attach_error (const char *who, const struct cgroup_dir *dir, int errnum,
                         struct error *err)
{
  const char *meaning = "";

  for (size_t k = 0; k < ARRAY_SIZE (attach_errors); k++)
    if (attach_errors[k].errnum == errnum)
      meaning = attach_errors[k].meaning;
  return error_errno (err, errnum, "put %s into the cgroup %s%s", who, dir->path, meaning);
}

static int attach (const struct cgroup *cg, pid_t pid, bool v2, struct error *err)
{
  char text[24], who[40];

  snprintf (text, sizeof (text), "%d", (int)pid);
  snprintf (who, sizeof (who), "process %s", text);
  for (size_t i = 0; i < cg->len; i++)
    {
      bool skip = !v2 && cg->dirs[i].controllers[0] == '\0';
      int r = skip ? 0 : path_write_file (cg->dirs[i].fd, "cgroup.procs", text, NULL);
      if (r < 0)
        return attach_error (who, &cg->dirs[i], -r, err);
    }
  return 0;
}

int cgroup_attach (const struct cgroup *cg, pid_t pid, struct error *err)
{
  return attach (cg, pid, true, err);
}

int cgroup_attach_v1 (const struct cgroup *cg, pid_t pid, struct error *err)
{
  return attach (cg, pid, false, err);
}

int cgroup_open_doors (struct cgroup *cg, struct error *err)
{
  for (size_t i = 0; i < cg->len; i++)
    {
      if (cg->dirs[i].controllers[0] == '\0')
        continue;
      int fd = path_openat2 (cg->dirs[i].fd, "tasks", O_WRONLY | O_NOCTTY, 0,
                             RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
      if (fd < 0)
        return error_errno (err, -fd, "open tasks of the cgroup %s", cg->dirs[i].path);
      cg->doors[i] = fd;
    }
  return 0;
}

void cgroup_close_doors (struct cgroup *cg)
{
  if (cg->doors != NULL)
    fd_close_many (cg->doors, cg->len);
}

int cgroup_enter_v1 (struct cgroup *cg, struct error *err)
{
  for (size_t i = 0; i < cg->len; i++)
    if (cg->doors[i] >= 0 && write (cg->doors[i], "0", 1) < 0)
      return attach_error ("the new process", &cg->dirs[i], errno, err);
  cgroup_close_doors (cg);
  return 0;
}
