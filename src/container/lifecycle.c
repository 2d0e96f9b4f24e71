/* SPDX-License-Identifier: Apache-2.0 */
/* start, kill and delete (runtime.md, "Operations").  */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "container/container.h"
#include "container/resctrl.h"
#include "container/hooks.h"
#include "container/start_socket.h"
#include "linux/process.h"
#include "state/state.h"

/* init in a pid namespace takes everything with it; SIGKILL takes effect at once but for I/O that
   can't be interrupted.  */
#define KILL_TIMEOUT_MS 10000

/* lifecycle.record: what was judged is what starts.  */
static int check_unchanged (const struct container *c, const char *policy_digest, struct error *err)
{
  const struct plan *plan = c->record->plan;
  cleanup_bundle struct bundle bundle = { .dirfd = -1 };
  int r = bundle_load (plan->bundle, c->record->config, &bundle, err);
  if (r < 0)
    return error_context (err, "lifecycle.record");
  if (!str_equal (bundle.digest, plan->config_digest))
    return error_set (err, -EPERM,
                      "lifecycle.record: %s of container %s was changed after create judged it: "
                      "delete the container and create it again",
                      bundle.config_name, plan->id);
  if (!str_equal (policy_digest, plan->policy_digest))
    return error_set (err, -EPERM,
                      "lifecycle.record: container %s was admitted by another policy than the one "
                      "in force (%s then): delete it and create it again",
                      plan->id, plan->policy_name);
  return 0;
}

static int run_poststart (struct container *c, struct error *err)
{
  const struct plan_hooks *h = c->record->plan->hooks;
  if (h == NULL || h->poststart_len == 0)
    return 0;
  cleanup_free char *state = container_state_json (c->record->plan, c->record->pid, "running");
  int r = state ? hooks_run ("poststart", h->poststart, h->poststart_len, NULL, state, err)
                : error_set (err, -ENOMEM, "out of memory for the container's state");
  struct error ignored;
  if (r < 0) /* runtime-spec 1.3: a failing poststart hook stops the container */
    (void)process_signal (c->procfd, c->record->pid, c->record->start_time, SIGKILL, &ignored);
  return r;
}

/* To the program's first instruction, and recorded.  */
static int start_program (struct container *c, struct error *err)
{
  cleanup_free char *state = container_state_json (c->record->plan, c->record->pid, "created");
  if (state == NULL)
    return error_set (err, -ENOMEM, "out of memory for the container's state");
  int r = c->start >= 0 ? start_go (c->start, state, err) : start_socket_go (c->dirfd, state, err);
  if (r < 0)
    return r;
  c->record->status = arena_strdup (c->arena, "running");
  return c->record->status ? state_write (c->dirfd, c->record, err)
                           : error_set (err, -ENOMEM, "out of memory for the record");
}

int container_start_open (struct container *c, struct error *err)
{
  int r = start_program (c, err);
  return r < 0 ? r : run_poststart (c, err);
}

static int delete_opened (struct container *c, struct error *err);

int container_start (const char *root, const char *id, const char *expected_policy,
                     struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  enum container_status status;
  int r = container_open (root, id, false, &c, err);
  if (r == 0)
    r = container_status (&c, &status, err);
  if (r < 0)
    return r;
  if (status != CONTAINER_CREATED)
    return error_set (err, -EINVAL, "container \"%s\" can't be started: it is %s", id,
                      container_status_name (status));
  r = check_unchanged (&c, expected_policy, err);
  if (r == 0)
    r = container_start_open (&c, err);
  /* runtime.md, "Lifecycle": after a failed startContainer or poststart hook it goes on with the
     container's destruction and poststop.  */
  struct error ignored = { 0 };
  if (r == -ECANCELED && delete_opened (&c, &ignored) < 0)
    log_write (LOG_LEVEL_WARNING, "%s", ignored.message);
  return r;
}

static int kill_all (const struct container *c, int signal, struct error *err)
{
  struct cgroup *cgroup = NULL;
  int r = container_cgroup (c, &cgroup, err);
  if (r < 0)
    return r;
  /* Without a cgroup init is the one that is known; SIGKILL takes its pid namespace with it.  */
  if (cgroup == NULL && c->record != NULL && c->record->has_pid)
    {
      r = process_signal (c->procfd, c->record->pid, c->record->start_time, signal, err);
      return r == -ESRCH ? 0 : r;
    }
  if (cgroup == NULL)
    return 0;
  r = cgroup_kill_all (cgroup, signal, err);
  cgroup_close (cgroup);
  return r;
}

static int thaw (const struct container *c, struct error *err)
{
  cleanup_cgroup struct cgroup *cgroup = NULL;
  int r = container_cgroup (c, &cgroup, err);

  return r < 0 || cgroup == NULL ? r : cgroup_freeze (cgroup, false, err);
}

int container_kill (const char *root, const char *id, int signal, bool all, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  enum container_status status;
  int r = container_open (root, id, false, &c, err);
  if (r == 0)
    r = container_status (&c, &status, err);
  if (r < 0)
    return r;
  if (all)
    return kill_all (&c, signal, err);
  if (status == CONTAINER_STOPPED)
    return error_set (err, -ESRCH, "container not running: \"%s\" is stopped", id);
  r = process_signal (c.procfd, c.record->pid, c.record->start_time, signal, err);
  /* The v1 freezer holds back even SIGKILL, and on v2 the group would stay frozen behind it.  */
  if (r == 0 && signal == SIGKILL && status == CONTAINER_PAUSED)
    r = thaw (&c, err);
  return r == -ESRCH ? error_set (err, r, "container not running: \"%s\" has just ended", id) : r;
}

/* Kills init and waits for its end; what else is in the cgroup goes with cgroup_remove.  A frozen
   group is thawed, or SIGKILL would wait for ever.  */
static int end_init (const struct container *c, struct cgroup *cgroup, struct error *err)
{
  cleanup_close int pidfd = -1;
  int r = process_open (c->procfd, c->record->pid, c->record->start_time, &pidfd, err);
  if (r == -ESRCH)
    return 0;
  if (r == 0)
    r = process_signal (c->procfd, c->record->pid, c->record->start_time, SIGKILL, err);
  if (r == -ESRCH)
    return 0;
  if (r == 0 && cgroup != NULL)
    r = cgroup_freeze (cgroup, false, err);
  return r < 0 ? r : process_wait_exit (pidfd, KILL_TIMEOUT_MS, err);
}

static int delete_opened (struct container *c, struct error *err)
{
  struct cgroup *cgroup = steal_ptr (&c->cgroup);
  int r = cgroup == NULL ? container_cgroup (c, &cgroup, err) : 0;
  if (r == 0 && c->record != NULL && c->record->has_pid && c->record->pid > 0)
    r = end_init (c, cgroup, err);
  if (r == 0 && cgroup != NULL)
    r = cgroup_remove (cgroup, err);
  else if (r == 0 && c->record != NULL && !c->record->plan->cgroup->disabled)
    r = cgroup_remove_empty (c->record->plan->cgroup->path, err);
  if (cgroup != NULL)
    cgroup_close (cgroup);
  if (r == 0 && c->record != NULL && c->record->has_pid)
    r = resctrl_leave (c->record->plan, c->record->resctrl_made, err);
  if (r == 0)
    r = state_dir_remove (c->rootfd, c->id, err);
  if (r == 0 && c->record != NULL)
    hooks_run_poststop (c->record->plan);
  return r;
}

int container_delete (const char *root, const char *id, bool force, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  enum container_status status;
  int r = container_open (root, id, force, &c, err);
  if (r == -ENOENT && force)
    return 0;
  if (r == 0)
    r = container_status (&c, &status, err);
  if (r < 0)
    return r;
  if (!force && status != CONTAINER_STOPPED && status != CONTAINER_CREATED)
    return error_set (err, -EBUSY,
                      "container \"%s\" can't be deleted: it is %s (kill it first, or use --force)",
                      id, container_status_name (status));
  return delete_opened (&c, err);
}

/* Without the lock another command may have deleted it meanwhile, and made another of its name.  */
int container_delete_open (struct container *c, struct error *err)
{
  int r = c->lock >= 0
              ? 0
              : state_lock (c->rootfd, c->id, c->dirfd, true, CONTAINER_LOCK_MS, &c->lock, err);
  if (r == -ENOENT)
    return 0;
  return r < 0 ? r : delete_opened (c, err);
}
