/* SPDX-License-Identifier: Apache-2.0 */
/* execute and record of `create`.  Every half-made thing has an owner here that unmakes it, so that
   a failure at any step leaves nothing behind.  */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "container/container.h"
#include "container/hooks.h"
#include "container/idmap.h"
#include "container/parent.h"
#include "container/record.h"
#include "container/resctrl.h"
#include "container/seccomp_agent.h"
#include "container/setup.h"
#include "container/start_socket.h"
#include "container/workload.h"
#include "linux/device.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/terminal.h"
#include "linux/userns.h"
#include "state/state.h"

struct creation
{
  const struct create_request *request;
  struct arena *arena;
  int rootfd, dirfd, lock, procfd;
  struct state_half_made half;
  struct cgroup *cgroup;
  struct record *record;
  struct container_setup setup;
  bool in_resctrl;
  bool kept;    /* all is made: ending leaves it */
  bool goes_on; /* to start it, before anybody else can look */
};

static void close_device_trees (struct container_setup *setup)
{
  for (size_t i = 0; setup->device_trees != NULL && i < setup->plan->devices_len; i++)
    cleanup_closep (&setup->device_trees[i]);
  free (setup->device_trees);
}

static void creation_end (struct creation *c)
{
  struct error ignored;
  if (c->in_resctrl && !c->kept)
    (void)resctrl_leave (c->request->plan, c->record->resctrl_made, &ignored);
  if (c->cgroup != NULL)
    {
      if (!c->kept)
        (void)cgroup_remove (c->cgroup, &ignored);
      cgroup_close (c->cgroup);
    }
  seccomp_program_free (&c->setup.seccomp);
  cgroup_mounts_free (c->setup.cgroup_mounts, c->setup.cgroup_mounts_len);
  mask_close (&c->setup.mask);
  close_device_trees (&c->setup);
  cleanup_closep (&c->setup.console_socket);
  cleanup_closep (&c->setup.start_listener);
  cleanup_closep (&c->setup.seccomp_agent);
  notify_close (&c->setup.notify);
  if (c->kept)
    state_dir_keep (&c->half);
  state_half_made_cleanup (&c->half);
  state_unlock (&c->lock);
  cleanup_closep (&c->dirfd);
  cleanup_closep (&c->rootfd);
  cleanup_closep (&c->procfd);
  arena_free (c->arena);
}

static int make_state (struct creation *c, struct error *err)
{
  const char *id = c->request->plan->id;
  int r = state_root_open (c->request->root, true, &c->rootfd, err);
  if (r == 0)
    r = state_dir_create (c->rootfd, id, &c->dirfd, err);
  if (r < 0)
    return r;
  c->half = (struct state_half_made){ c->rootfd, id };
  r = state_lock (c->rootfd, id, c->dirfd, true, 0, &c->lock, err);
  if (r < 0)
    return r;
  c->record = record_new (c->request->plan, c->request->root, c->arena);
  if (c->record == NULL)
    return error_set (err, -ENOMEM, "out of memory for the record");
  c->record->config = c->request->config ? arena_strdup (c->arena, c->request->config) : NULL;
  return state_write (c->dirfd, c->record, err);
}

/* An ordinary user has a cgroup only where one was delegated.  Without one nothing holds the limits
   that the policy puts on by itself (limit.unenforced); a limit that was asked for is an error.  */
static int go_without_cgroup (struct creation *c, struct error *err)
{
  log_write (LOG_LEVEL_WARNING,
             "limit.unenforced: no cgroup is delegated to this user, so the container has no "
             "limits of memory, processes and CPU: %s",
             err->message);
  return cgroup_open (NULL, NULL, 0, &c->cgroup, err);
}

static int make_cgroup (struct creation *c, struct error *err)
{
  const struct plan_cgroup *plan = c->request->plan->cgroup;
  if (plan->disabled)
    return cgroup_open (NULL, NULL, 0, &c->cgroup, err);
  int r = cgroup_create (plan->path, plan->resources, &c->cgroup, err);
  if (plan->optional && (r == -EACCES || r == -EPERM || r == -EROFS))
    return go_without_cgroup (c, err);
  if (r == 0 && record_set_cgroup (c->record, c->cgroup, c->arena) < 0)
    r = error_set (err, -ENOMEM, "out of memory for the record");
  /* Written with init's number.  Until then the group is known by the plan, and empty.  */
  if (r == 0 && plan->resources != NULL)
    r = cgroup_apply (c->cgroup, plan->resources, err);
  return r;
}

static int make_cgroup_mounts (struct creation *c, struct error *err)
{
  const struct plan *plan = c->request->plan;
  bool wanted = false, private_namespace = false;
  for (size_t i = 0; i < plan->mounts_len; i++)
    wanted = wanted || str_equal (plan->mounts[i].kind, "cgroup")
             || str_equal (plan->mounts[i].kind, "cgroup2");
  for (size_t i = 0; i < plan->namespaces_len; i++)
    private_namespace = private_namespace || str_equal (plan->namespaces[i].type, "cgroup");
  c->setup.cgroup_mode = cgroup_mode (c->cgroup);
  return wanted ? cgroup_mounts (c->cgroup, private_namespace, &c->setup.cgroup_mounts,
                                 &c->setup.cgroup_mounts_len, err)
                : 0;
}

static int connect_console (struct creation *c, struct error *err)
{
  bool terminal = c->request->plan->process->terminal;
  const char *path = c->request->console_socket;
  if (terminal && path == NULL && c->request->console_fd <= 0)
    return error_set (err, -EINVAL, "process.terminal is true: create needs --console-socket");
  if (!terminal && path != NULL)
    return error_set (err, -EINVAL, "--console-socket is given, but process.terminal is not true");
  if (!terminal)
    return 0;
  if (path != NULL)
    return terminal_console_connect (path, &c->setup.console_socket, err);
  c->setup.console_socket = fcntl (c->request->console_fd, F_DUPFD_CLOEXEC, 3);
  return c->setup.console_socket < 0 ? error_errno (err, errno, "pass the console socket on") : 0;
}

/* Outside of the initial user namespace nobody can make a device node, so the host's are bound.  */
static int open_device_trees (struct creation *c, struct error *err)
{
  const struct plan *plan = c->request->plan;
  if (plan->user_namespace == NULL && userns_is_initial ())
    return 0;
  c->setup.device_trees = malloc ((plan->devices_len + 1) * sizeof (int));
  if (c->setup.device_trees == NULL)
    return error_set (err, -ENOMEM, "out of memory for the devices");
  for (size_t i = 0; i < plan->devices_len; i++)
    c->setup.device_trees[i] = -1;
  for (size_t i = 0; i < plan->devices_len; i++)
    {
      const struct plan_device *d = &plan->devices[i];
      const struct device_node node = { d->path, d->type[0], d->major, d->minor, 0, 0, 0 };
      if (d->type[0] == 'p')
        continue;
      int r = device_host_open (&node, &c->setup.device_trees[i], err);
      if (r < 0)
        return error_context (err, "device %s in a user namespace", d->path);
    }
  return 0;
}

static bool has_pid_namespace (const struct plan *plan)
{
  for (size_t i = 0; i < plan->namespaces_len; i++)
    if (str_equal (plan->namespaces[i].type, "pid"))
      return true;
  return false;
}

static int make_setup (struct creation *c, struct error *err)
{
  const struct create_request *request = c->request;
  c->setup.plan = request->plan;
  c->setup.procfd = c->procfd;
  c->setup.cgroup = c->cgroup;
  c->setup.descriptors = request->resolved->descriptors;
  c->setup.descriptors_len = request->resolved->descriptors_len;
  c->setup.preserve_fds = request->preserve_fds + request->listen_fds;
  c->setup.listen_fds = request->listen_fds;
  c->setup.new_keyring = !request->no_new_keyring;
  c->setup.lock_mounts = request->plan->user_namespace != NULL || !userns_is_initial ();
  c->setup.parent = has_pid_namespace (request->plan) ? 0 : getpid ();
  int r = connect_console (c, err);
  if (r == 0)
    r = workload_make_seccomp (request->plan->seccomp, &c->setup.seccomp, err);
  if (r == 0)
    r = seccomp_agent_connect (request->plan->seccomp, &c->setup.seccomp_agent, err);
  if (r == 0 && request->plan->masked_paths_len > 0)
    r = mask_null_open (&c->setup.mask.null_tree, err);
  if (r == 0)
    r = open_device_trees (c, err);
  if (r == 0)
    r = idmap_mounts (&c->setup, c->procfd, err);
  if (r == 0 && request->notify_socket != NULL && request->notify_socket[0] != '\0')
    r = notify_open (request->notify_socket, request->plan, &c->setup.notify, err);
  if (r == 0)
    r = make_cgroup_mounts (c, err);
  if (r < 0 || c->goes_on)
    return r;
  return start_socket_listen (c->dirfd, &c->setup.start_listener, err);
}

/* Called as soon as init exists.  */
static int record_init (const struct created *init, void *data, struct error *err)
{
  struct creation *c = data;
  c->record->has_pid = c->record->has_start_time = true;
  c->record->pid = init->pid;
  c->record->start_time = init->start_time;
  int r = resctrl_enter (c->request->plan, init->pid, &c->record->resctrl_made, err);
  c->record->has_resctrl_made = c->in_resctrl = r == 0;
  return r < 0 ? r : state_write (c->dirfd, c->record, err);
}

static int record_created (struct creation *c, const struct created *init, struct error *err)
{
  int r = record_set_namespaces (c->record, c->procfd, init->pid, c->arena, err);
  c->record->status = arena_strdup (c->arena, "created");
  if (r == 0 && c->record->status == NULL)
    r = error_set (err, -ENOMEM, "out of memory for the record");
  if (r == 0 && !c->goes_on)
    r = state_write (c->dirfd, c->record, err);
  if (r == 0 && c->request->pid_file != NULL)
    r = pid_file_write (c->request->pid_file, init->pid, err);
  if (r == 0 && c->request->pidfd_socket != NULL)
    r = pidfd_send (c->request->pidfd_socket, init->pidfd, err);
  return r < 0 ? r : notify_forward (&c->setup.notify, init->pid, init->pidfd, err);
}

static void kill_init (struct created *init)
{
  int ignored;
  struct error err;
  kill (init->pid, SIGKILL);
  (void)process_wait_child (init->pidfd, &ignored, &err);
  cleanup_closep (&init->pidfd);
  cleanup_closep (&init->start);
}

static int create_steps (struct creation *c, struct created *ret, struct error *err)
{
  const struct parent_request request = {
    .setup = &c->setup,
    .procfd = c->procfd,
    .state_json = container_state_json,
    .init_made = record_init,
    .data = c,
  };
  struct created init = CREATED_INIT;
  int r = make_state (c, err);
  if (r == 0)
    r = make_cgroup (c, err);
  if (r == 0)
    r = make_setup (c, err);
  if (r == 0)
    r = workload_preserve_descriptors (c->setup.preserve_fds, err);
  if (r < 0)
    return r;
  struct parent_request with_cgroup = request;
  with_cgroup.cgroup = c->cgroup;
  r = parent_create_init (&with_cgroup, &init, err);
  if (r < 0)
    return r;
  r = record_created (c, &init, err);
  if (r < 0)
    {
      kill_init (&init);
      return r;
    }
  c->kept = true;
  *ret = init;
  return 0;
}

/* What is needed to go on is the caller's now.  */
static void hand_over (struct creation *c, struct created *init, struct container *ret)
{
  *ret = (struct container){
    .id = c->request->plan->id,
    .rootfd = steal_fd (&c->rootfd),
    .dirfd = steal_fd (&c->dirfd),
    .lock = steal_fd (&c->lock),
    .procfd = steal_fd (&c->procfd),
    .arena = steal_ptr (&c->arena),
    .record = c->record,
    .cgroup = steal_ptr (&c->cgroup),
    .start = steal_fd (&init->start),
  };
}

int container_create_open (const struct create_request *request, struct created *ret_created,
                           struct container *ret, struct error *err)
{
  struct creation c = {
    .request = request,
    .arena = arena_new (),
    .rootfd = -1,
    .dirfd = -1,
    .lock = -1,
    .procfd = -1,
    .half = STATE_NOT_MADE,
    .setup = { .mask = MASK_INIT,
               .console_socket = -1,
               .seccomp_agent = -1,
               .start_listener = -1,
               .notify = NOTIFY_NONE },
    .goes_on = ret != NULL,
  };
  int r = c.arena ? process_set_undumpable (err) : error_set (err, -ENOMEM, "out of memory");
  if (r == 0)
    r = procfs_open (&c.procfd, err);
  if (r == 0)
    r = create_steps (&c, ret_created, err);
  if (r == 0 && ret != NULL)
    {
      state_dir_keep (&c.half);
      hand_over (&c, ret_created, ret);
    }
  creation_end (&c);
  /* runtime.md, "Lifecycle": a failed hook leads to the same end as delete.  */
  if (r == -ECANCELED)
    hooks_run_poststop (request->plan);
  return r;
}

int container_create (const struct create_request *request, struct created *ret, struct error *err)
{
  return container_create_open (request, ret, NULL, err);
}
