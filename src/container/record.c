/* SPDX-License-Identifier: Apache-2.0 */
#include "container/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/utc.h"
#include "linux/unix_socket.h"
#include "plan/make.h"
#include "spec/names.h"

#define RECORD_VERSION 1

static char *now (struct arena *arena)
{
  struct timespec t;
  char text[UTC_TIME_SIZE];
  clock_gettime (CLOCK_REALTIME, &t);
  return arena_strdup (arena, utc_time (&t, text));
}

struct record *record_new (const struct plan *plan, const char *root, struct arena *arena)
{
  struct record *record = arena_alloc (arena, sizeof *record);
  if (record == NULL)
    return NULL;
  SET_NUMBER (record, version, RECORD_VERSION);
  SET_NUMBER (record, owner, geteuid ());
  SET_NUMBER (record, console, plan->process->terminal);
  record->status = arena_strdup (arena, "creating");
  record->created = now (arena);
  record->root = arena_strdup (arena, root);
  record->plan = plan_without_environment (plan, arena);
  return record->status && record->created && record->root && record->plan ? record : NULL;
}

int record_set_cgroup (struct record *record, const struct cgroup *cgroup, struct arena *arena)
{
  const struct cgroup_dir *dirs;
  size_t n = cgroup_dirs (cgroup, &dirs);
  record->cgroups = arena_alloc (arena, (n + 1) * sizeof *record->cgroups);
  if (record->cgroups == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++)
    {
      record->cgroups[i].controllers = arena_strdup (arena, dirs[i].controllers);
      record->cgroups[i].path = arena_strdup (arena, dirs[i].path);
      SET_NUMBER (&record->cgroups[i], made, dirs[i].made);
      if (record->cgroups[i].controllers == NULL || record->cgroups[i].path == NULL)
        return -ENOMEM;
    }
  record->cgroups_len = n;
  record->has_cgroups = true;
  return 0;
}

int record_set_namespaces (struct record *record, int procfd, pid_t pid, struct arena *arena,
                           struct error *err)
{
  static const char *const types[] = { "pid", "network", "mount",  "ipc",
                                       "uts", "user",    "cgroup", "time" };
  record->namespaces = arena_alloc (arena, ARRAY_SIZE (types) * sizeof *record->namespaces);
  if (record->namespaces == NULL)
    return error_set (err, -ENOMEM, "out of memory for the record");
  record->namespaces_len = 0;
  for (size_t i = 0; i < ARRAY_SIZE (types); i++)
    {
      char path[64];
      struct stat st;
      snprintf (path, sizeof path, "%d/ns/%s", pid, namespace_proc_name (types[i]));
      if (fstatat (procfd, path, &st, 0) < 0 && errno == ENOENT && str_equal (types[i], "time"))
        continue; /* a kernel without CONFIG_TIME_NS */
      if (fstatat (procfd, path, &st, 0) < 0)
        return error_errno (err, errno, "look at the container's %s namespace", types[i]);
      struct record_namespace *ns = &record->namespaces[record->namespaces_len++];
      ns->type = arena_strdup (arena, types[i]);
      SET_NUMBER (ns, dev, st.st_dev);
      SET_NUMBER (ns, ino, st.st_ino);
    }
  record->has_namespaces = true;
  return 0;
}

int pid_file_write (const char *path, pid_t pid, struct error *err)
{
  cleanup_free char *temporary = NULL;
  char text[16], quoted[STR_QUOTE_MAX];
  if (asprintf (&temporary, "%s.%d", path, getpid ()) < 0)
    return error_set (err, -ENOMEM, "out of memory for the pid file");
  snprintf (text, sizeof text, "%d", pid);
  cleanup_close int fd =
      open (temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0)
    return error_errno (err, errno, "write the pid file %s", str_quote (path, quoted));
  int r = fd_write_all (fd, text, strlen (text), err);
  if (r == 0 && rename (temporary, path) < 0)
    r = error_errno (err, errno, "write the pid file %s", str_quote (path, quoted));
  if (r < 0)
    unlink (temporary);
  return r;
}

int pidfd_send (const char *path, int pidfd, struct error *err)
{
  static const char name[] = "pidfd";
  cleanup_close int sock = -1;
  int r = unix_connect (path, "pidfd socket", &sock, err);
  return r < 0 ? r : fd_send (sock, pidfd, name, strlen (name), err);
}
