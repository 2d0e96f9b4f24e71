/* SPDX-License-Identifier: Apache-2.0 */
/* Kills by the kernel for want of memory: a counter, and a descriptor that tells when to look at
   it. v1 has an eventfd (cgroup.event_control), v2 lets poll(2) wait for its file.  */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"

#define COUNTERS_MAX 4096

static const struct cgroup_dir *memory_dir (const struct cgroup *cg, const char **ret_file)
{
  const struct cgroup_dir *v1 = group_find_v1 (cg, "memory");

  *ret_file = v1 != NULL ? "memory.oom_control" : "memory.events";
  return v1 != NULL ? v1 : group_find_v2 (cg);
}

static int watch_v1 (const struct cgroup_dir *dir, int file, int *ret_fd)
{
  cleanup_close int event = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  cleanup_close int control = openat (dir->fd, "cgroup.event_control", O_WRONLY | O_CLOEXEC);
  char line[32];
  int len;

  if (event < 0 || control < 0)
    return -errno;
  len = snprintf (line, sizeof line, "%d %d", event, file);
  if (write (control, line, (size_t)len) != len)
    return -errno;
  *ret_fd = steal_fd (&event);
  return 0;
}

int cgroup_oom_watch (const struct cgroup *cg, int *ret_fd, short *ret_events, struct error *err)
{
  const char *name;
  const struct cgroup_dir *dir = memory_dir (cg, &name);
  cleanup_close int file = dir == NULL ? -1 : openat (dir->fd, name, O_RDONLY | O_CLOEXEC);

  if (dir == NULL || (file < 0 && errno == ENOENT))
    return error_set (err, -ENOENT, "no memory controller counts this container's memory");
  if (file < 0)
    return error_errno (err, errno, "open %s/%s", dir->path, name);
  if (group_find_v1 (cg, "memory") != NULL)
    {
      int r = watch_v1 (dir, file, ret_fd);

      *ret_events = POLLIN;
      return r < 0 ? error_errno (err, -r, "watch %s/%s", dir->path, name) : 0;
    }
  *ret_fd = steal_fd (&file);
  *ret_events = POLLPRI;
  return 0;
}

uint64_t cgroup_oom_kills (const struct cgroup *cg)
{
  const char *name;
  const struct cgroup_dir *dir = memory_dir (cg, &name);
  cleanup_close int fd = dir == NULL ? -1 : openat (dir->fd, name, O_RDONLY | O_CLOEXEC);
  cleanup_free char *text = NULL;
  unsigned long long kills = 0;
  size_t len;
  const char *at;

  if (fd < 0 || fd_read_all (fd, COUNTERS_MAX, name, &text, &len, NULL) < 0)
    return 0;
  at = strstr (text, "oom_kill ");
  return at != NULL && sscanf (at, "oom_kill %llu", &kills) == 1 ? kills : 0;
}
