/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the clone of init: which namespaces exist before it, and who enters or makes them.  Runs in
   the command's own process, with the engine's privileges, in the engine's namespaces, where it is
   again when it returns.  */
#include "container/clone.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/process.h"
#include "linux/timens.h"

#ifndef CLONE_NEWTIME
#  define CLONE_NEWTIME 0x00000080
#endif

/* Made by clone3 itself; cgroup namespaces are made by init once it is in its cgroup, a time
   namespace before.  */
static uint64_t new_namespace_flags (const struct plan *plan)
{
  uint64_t flags = 0;
  for (size_t i = 0; i < plan->namespaces_len; i++)
    if (plan->namespaces[i].path == NULL && plan->namespaces[i].flag != CLONE_NEWCGROUP
        && plan->namespaces[i].flag != CLONE_NEWTIME)
      flags |= plan->namespaces[i].flag;
  return flags;
}

/* A namespace that this process is in while it clones, and its own one, to return to.  */
struct visit
{
  const char *type;
  int flag;
  int own;
};

#define VISITS_MAX 8
#define CLOCKS_MAX 2 /* monotonic and boottime */

static const struct
{
  const char *type;
  const char *own;
} own_namespaces[] = {
  { "pid", "/proc/self/ns/pid" },       { "network", "/proc/self/ns/net" },
  { "ipc", "/proc/self/ns/ipc" },       { "uts", "/proc/self/ns/uts" },
  { "cgroup", "/proc/self/ns/cgroup" }, { "time", "/proc/self/ns/time" },
};

static int open_own_namespace (const char *type)
{
  for (size_t i = 0; i < ARRAY_SIZE (own_namespaces); i++)
    if (str_equal (own_namespaces[i].type, type))
      return open (own_namespaces[i].own, O_RDONLY | O_CLOEXEC);
  errno = EINVAL;
  return -1;
}

/* Returns to the own namespaces: this process's hooks are made there.  */
static int end_visits (struct visit *visits, size_t n, struct error *err)
{
  int r = 0;
  while (n-- > 0)
    {
      if (setns (visits[n].own, visits[n].flag) < 0 && r == 0)
        r = error_errno (err, errno, "return to the own %s namespace", visits[n].type);
      cleanup_closep (&visits[n].own);
    }
  return r;
}

static int begin_visits (const struct container_setup *setup, struct visit *visits, size_t *n,
                         struct error *err)
{
  const struct plan *plan = setup->plan;
  for (size_t i = 0; i < plan->namespaces_len; i++)
    {
      const struct plan_namespace *ns = &plan->namespaces[i];
      if (!setup_parent_joins (plan, ns))
        continue;
      struct visit v = { ns->type, (int)ns->flag, open_own_namespace (ns->type) };
      if (v.own < 0 || *n == VISITS_MAX)
        return error_errno (err, errno, "open the own %s namespace", ns->type);
      if (setns (setup_descriptor (setup, ns->descriptor), v.flag) < 0)
        {
          int saved = errno;
          cleanup_closep (&v.own);
          return error_errno (err, saved, "join the %s namespace %s", ns->type, ns->path);
        }
      visits[(*n)++] = v;
    }
  return 0;
}

/* A time namespace is empty until its offsets are written: made by this process for its child. *OWN
   leads back, or is -1 where none is wanted.  */
static int make_time_namespace (const struct plan *plan, int procfd, int *own, struct error *err)
{
  struct time_offset offsets[CLOCKS_MAX];
  size_t n = 0;
  for (size_t i = 0; i < plan->namespaces_len; i++)
    {
      if (plan->namespaces[i].path != NULL || plan->namespaces[i].flag != CLONE_NEWTIME)
        continue;
      for (; n < plan->time_offsets.len && n < CLOCKS_MAX; n++)
        offsets[n] =
            (struct time_offset){ plan->time_offsets.keys[n], plan->time_offsets.values[n].secs,
                                  plan->time_offsets.values[n].nanosecs };
      return timens_make (procfd, offsets, n, own, err);
    }
  return 0;
}

/* The child is a plain copy of this process, which has one thread: as after fork(2).  */
static pid_t clone_once (const struct container_setup *setup, int cgroup_fd, uint64_t flags,
                         int *ret_pidfd)
{
  struct clone_args args = {
    .flags = CLONE_PIDFD | flags | new_namespace_flags (setup->plan),
    .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
    .exit_signal = (flags & CLONE_PARENT) != 0 ? 0 : SIGCHLD, /* CLONE_PARENT: the caller's */
  };
  if (cgroup_fd >= 0)
    {
      args.flags |= CLONE_INTO_CGROUP;
      args.cgroup = (uint64_t)cgroup_fd;
    }
  return (pid_t)syscall (SYS_clone3, &args, sizeof args);
}

/* The child inherits what is joined here: a pid namespace can't be entered in another way, and what
   belongs to the host's user namespace can't be entered from a new one.  */
static int clone_in_namespaces (const struct container_setup *setup, int cgroup_fd, pid_t *ret_pid,
                                int *ret_pidfd, struct error *err)
{
  struct visit visits[VISITS_MAX];
  struct error ignored;
  size_t n = 0;
  int r = begin_visits (setup, visits, &n, err);
  if (r < 0)
    {
      (void)end_visits (visits, n, &ignored);
      return r;
    }
  pid_t pid = clone_once (setup, cgroup_fd, 0, ret_pidfd);
  if (pid == 0)
    {
      *ret_pid = 0;
      return 0;
    }
  r = pid < 0 ? error_errno (err, errno, "clone the container's init with namespaces 0x%llx",
                             (unsigned long long)new_namespace_flags (setup->plan))
              : 0;
  int back = end_visits (visits, n, r < 0 ? &ignored : err);
  if (r == 0 && back < 0)
    {
      kill (pid, SIGKILL);
      while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
        ;
      cleanup_closep (ret_pidfd);
    }
  if (r < 0 || back < 0)
    return r < 0 ? r : back;
  *ret_pid = pid;
  return 0;
}

/* ---- a user namespace that is joined ---- */

/* Who enters a user namespace has no way back, and this process is still needed with all its
   rights. So a guide goes in, one that shares the descriptors, and its child is made a child of
   ours.  */
struct found
{
  pid_t pid;
  int pidfd;
  struct error err;
};

static int enter (const struct container_setup *setup, bool user, struct error *err)
{
  const struct plan *plan = setup->plan;
  for (size_t i = 0; i < plan->namespaces_len; i++)
    {
      const struct plan_namespace *ns = &plan->namespaces[i];
      if (ns->path == NULL || (ns->flag == CLONE_NEWUSER) != user)
        continue;
      if (setns (setup_descriptor (setup, ns->descriptor), (int)ns->flag) < 0)
        return error_errno (err, errno, "join the %s namespace %s", ns->type, ns->path);
    }
  return 0;
}

/* In the guide.  Returns in init only, with true.  */
static bool guide_init (const struct container_setup *setup, int cgroup_fd, int answer)
{
  struct found found = { .pidfd = -1 };
  int r = enter (setup, false, &found.err);
  /* Last: the others may belong to namespaces above it.  */
  if (r == 0)
    r = enter (setup, true, &found.err);
  /* The change of rights may have undone it (fs.suid_dumpable), and root of a shared pid namespace
     sees init from the clone on.  */
  if (r == 0)
    r = process_set_undumpable (&found.err);
  if (r == 0)
    {
      found.pid = clone_once (setup, cgroup_fd, CLONE_PARENT, &found.pidfd);
      if (found.pid == 0)
        return true;
      if (found.pid < 0)
        (void)error_errno (&found.err, errno, "clone the container's init");
    }
  _exit (write (answer, &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
}

static int clone_by_guide (const struct container_setup *setup, int cgroup_fd, pid_t *ret_pid,
                           int *ret_pidfd, struct error *err)
{
  struct found found = { 0 };
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return error_errno (err, errno, "make a pipe");
  cleanup_close int from = ends[0], to = ends[1];
  pid_t guide = (pid_t)syscall (SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
  if (guide < 0)
    return error_errno (err, errno, "clone a process that enters the user namespace");
  if (guide == 0 && guide_init (setup, cgroup_fd, to))
    {
      *ret_pid = 0;
      return 0;
    }
  while (waitpid (guide, NULL, 0) < 0 && errno == EINTR)
    ;
  cleanup_closep (&to);
  if (read (from, &found, sizeof found) != (ssize_t)sizeof found)
    return error_set (err, -ECHILD, "the process that entered the user namespace was killed");
  if (found.err.code < 0)
    return error_set (err, found.err.code, "%s", found.err.message);
  *ret_pid = found.pid;
  *ret_pidfd = found.pidfd;
  return 0;
}

int clone_init (const struct container_setup *setup, struct cgroup *cgroup, int procfd,
                pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
  const struct plan_user_namespace *user = setup->plan->user_namespace;
  struct error ignored;
  int own = -1;
  int r = make_time_namespace (setup->plan, procfd, &own, err);
  if (r < 0)
    return r;
  r = user != NULL && user->joined
          ? clone_by_guide (setup, cgroup_v2_fd (cgroup), ret_pid, ret_pidfd, err)
          : clone_in_namespaces (setup, cgroup_v2_fd (cgroup), ret_pid, ret_pidfd, err);
  if (own >= 0 && r == 0 && *ret_pid == 0)
    close (own);
  else if (own >= 0)
    (void)timens_leave (own, &ignored); /* our children to come are hooks only */
  return r;
}
