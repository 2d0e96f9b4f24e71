/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the command's own process, in the engine's namespaces, with its privileges.  */
#include "container/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/attributes.h"
#include "container/hooks.h"
#include "container/idmap.h"
#include "container/init.h"
#include "container/sync.h"
#include "linux/netdev.h"
#include "linux/oom_score.h"
#include "linux/process.h"
#include "linux/rlimit.h"
#include "linux/timens.h"
#include "linux/userns.h"

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
static pid_t clone_init (const struct container_setup *setup, int cgroup_fd, int *ret_pidfd)
{
  struct clone_args args = {
    .flags = CLONE_PIDFD | new_namespace_flags (setup->plan),
    .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
    .exit_signal = SIGCHLD,
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
  pid_t pid = clone_init (setup, cgroup_fd, ret_pidfd);
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

static int run_runtime_hooks (const struct parent_request *request, const char *state_json,
                              struct error *err)
{
  const struct plan_hooks *h = request->setup->plan->hooks;
  if (h == NULL)
    return 0;
  int r = hooks_run ("prestart", h->prestart, h->prestart_len, request->setup, state_json, err);
  return r < 0 ? r
               : hooks_run ("createRuntime", h->create_runtime, h->create_runtime_len,
                            request->setup, state_json, err);
}

/* init made its nodes: from now on the filter holds, for everything in the group.  Without a group
   (rootless, none delegated) there is nothing to filter: outside of the initial user namespace
   nobody makes a node.  */
static int install_device_filter (const struct parent_request *request, struct error *err)
{
  const struct plan_cgroup *c = request->setup->plan->cgroup;
  const struct cgroup_dir *ignored;
  return c->has_devices && cgroup_dirs (request->cgroup, &ignored) > 0
             ? cgroup_apply_devices (request->cgroup, c->devices, c->devices_len, err)
             : 0;
}

static int write_maps (int procfd, pid_t pid, const struct plan_user_namespace *user,
                       struct error *err)
{
  cleanup_free struct id_range *uids = idmap_ranges (user->uid_mappings, user->uid_mappings_len);
  cleanup_free struct id_range *gids = idmap_ranges (user->gid_mappings, user->gid_mappings_len);
  const struct userns_maps maps = { uids, user->uid_mappings_len, gids, user->gid_mappings_len };
  if (uids == NULL || gids == NULL)
    return error_set (err, -ENOMEM, "out of memory for the maps of the user namespace");
  return userns_write_maps (procfd, pid, &maps, err);
}

/* What init can't do itself once it has privileges in its own user namespace only.  */
static int empower_init (const struct parent_request *request, pid_t pid, struct error *err)
{
  const struct plan *plan = request->setup->plan;
  const struct plan_process *p = plan->process;
  int r = 0;
  if (plan->user_namespace == NULL)
    return 0;
  if (p->has_oom_score_adj)
    r = oom_score_adj_set_of (request->procfd, pid, p->oom_score_adj, err);
  for (size_t i = 0; r == 0 && i < p->rlimits_len; i++)
    r = rlimit_raise_hard_of (pid, p->rlimits[i].name, p->rlimits[i].resource, p->rlimits[i].hard,
                              err);
  return r < 0 ? r : write_maps (request->procfd, pid, plan->user_namespace, err);
}

static int move_interfaces (const struct parent_request *request, pid_t pid, struct error *err)
{
  const struct plan *plan = request->setup->plan;
  int r = 0;
  for (size_t i = 0; r == 0 && i < plan->net_devices.len; i++)
    {
      const char *from = plan->net_devices.keys[i], *to = plan->net_devices.values[i].name;
      r = netdev_move (request->procfd, pid, from, to != NULL && to[0] != '\0' ? to : from, err);
    }
  return r < 0 ? error_context (err, "linux.netDevices") : 0;
}

static int lead_init (const struct parent_request *request, const struct created *init, int sync,
                      struct error *err)
{
  int r =
      process_start_time (request->procfd, init->pid, &((struct created *)init)->start_time, err);
  if (r == 0)
    r = request->init_made (init, request->data, err);
  if (r == 0)
    r = empower_init (request, init->pid, err);
  if (r == 0)
    r = sync_send (sync, SYNC_GO, NULL, err);
  if (r == 0)
    r = sync_expect (sync, SYNC_PREPARED, NULL, err);
  if (r == 0)
    r = move_interfaces (request, init->pid, err);
  if (r == 0)
    r = install_device_filter (request, err);
  cleanup_free char *state =
      r == 0 ? request->state_json (request->setup->plan, init->pid, "creating") : NULL;
  if (r == 0 && state == NULL)
    r = error_set (err, -ENOMEM, "out of memory for the container's state");
  if (r == 0)
    r = run_runtime_hooks (request, state, err);
  if (r == 0)
    r = sync_send (sync, SYNC_HOOKED, state, err);
  if (r == 0)
    r = sync_expect (sync, SYNC_READY, NULL, err);
  return r < 0 ? r : attributes_schedule (init->pid, request->setup->plan->process, err);
}

/* init that ended without a word: its signal is the only thing left to tell.  */
static int tell_death (pid_t pid, int r, struct error *err)
{
  int status = 0;
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (r == -EPIPE && WIFSIGNALED (status) && WTERMSIG (status) != SIGKILL)
    return error_set (err, r, "the container's init was ended by signal %d during create",
                      WTERMSIG (status));
  if (r == -EPIPE && WIFSIGNALED (status))
    return error_set (
        err, r, "the container's init was killed during create: is its memory limit too low?");
  return r;
}

static int clone_in_time (const struct parent_request *request, pid_t *ret_pid, int *ret_pidfd,
                          struct error *err)
{
  struct error ignored;
  int own = -1;
  int r = make_time_namespace (request->setup->plan, request->procfd, &own, err);
  if (r < 0)
    return r;
  r = clone_in_namespaces (request->setup, cgroup_v2_fd (request->cgroup), ret_pid, ret_pidfd, err);
  if (own >= 0 && r == 0 && *ret_pid == 0)
    close (own);
  else if (own >= 0)
    (void)timens_leave (own, &ignored); /* our children to come are hooks only */
  return r;
}

int parent_create_init (const struct parent_request *request, struct created *ret,
                        struct error *err)
{
  int ends[2] = { -1, -1 };
  struct created init = CREATED_INIT;
  int r = cgroup_open_doors (request->cgroup, err);
  if (r == 0)
    r = sync_pair (ends, err);
  if (r < 0)
    return r;
  r = clone_in_time (request, &init.pid, &init.pidfd, err);
  if (r == 0 && init.pid == 0)
    {
      close (ends[0]);
      init_run (request->setup, ends[1]);
    }
  close (ends[1]);
  cgroup_close_doors (request->cgroup);
  if (r == 0)
    {
      r = lead_init (request, &init, ends[0], err);
      if (r == 0 && request->setup->start_listener < 0)
        init.start = steal_fd (&ends[0]);
      cleanup_closep (&ends[0]);
      if (r < 0)
        {
          if (r != -EPIPE)
            kill (init.pid, SIGKILL);
          r = tell_death (init.pid, r, err);
        }
    }
  else
    close (ends[0]);
  if (r < 0)
    {
      cleanup_closep (&init.pidfd);
      return r;
    }
  *ret = init;
  return 0;
}
