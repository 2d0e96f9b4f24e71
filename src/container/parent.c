/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the command's own process, in the engine's namespaces, with its privileges.  */
#include "container/parent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/attributes.h"
#include "container/clone.h"
#include "container/hooks.h"
#include "container/idmap.h"
#include "container/init.h"
#include "container/sync.h"
#include "linux/netdev.h"
#include "linux/oom_score.h"
#include "linux/process.h"
#include "linux/rlimit.h"
#include "linux/userns.h"

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
  return r < 0 || plan->user_namespace->joined
             ? r
             : write_maps (request->procfd, pid, plan->user_namespace, err);
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
  r = clone_init (request->setup, request->cgroup, request->procfd, &init.pid, &init.pidfd, err);
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
