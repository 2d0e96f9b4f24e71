/* SPDX-License-Identifier: Apache-2.0 */
/* The order of what happens inside is the table below and nowhere else.  Runs in init, with the
   parent's privileges, until workload_become.  */
#include "container/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/attributes.h"
#include "container/hooks.h"
#include "container/init_steps.h"
#include "container/seccomp_agent.h"
#include "container/sync.h"
#include "linux/hostname.h"
#include "linux/keyring.h"
#include "linux/loopback.h"
#include "linux/mount_lock.h"
#include "linux/oom_score.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/rootfs.h"
#include "linux/sysctls.h"
#include "linux/userns.h"
#include "spec/names.h"

bool init_has_namespace (const struct init *init, const char *type, bool new_one)
{
  for (size_t i = 0; i < init->plan->namespaces_len; i++)
    if (str_equal (init->plan->namespaces[i].type, type))
      return !new_one || init->plan->namespaces[i].path == NULL;
  return false;
}

static bool is_mapped (const struct oci_id_mapping *maps, size_t n, uint32_t id)
{
  return id_mapping_outside (maps, n, id) != UINT32_MAX;
}

/* What the steps have found so far, as the workload needs it.  */
static struct workload *init_workload (struct init *init)
{
  struct workload *w = &init->workload;
  w->process = init->plan->process;
  w->seccomp = &init->setup->seccomp;
  w->seccomp_agent = init->setup->seccomp_agent;
  w->preserve_fds = init->setup->preserve_fds;
  w->listen_fds = init->setup->listen_fds;
  w->notify = init->setup->notify.tree >= 0;
  w->procfd = init->procfd;
  w->rootfd = init->rootfd;
  return w;
}

static int step_detach_from_caller (struct init *init, struct error *err)
{
  return workload_leave_caller (init->setup->procfd, err);
}

/* Known to the record by then, and not yet anything that matters.  */
static int step_enter_cgroup (struct init *init, struct error *err)
{
  int r = sync_expect (init->sync, SYNC_GO, NULL, err);
  return r < 0 ? r : cgroup_enter_v1 (init->setup->cgroup, err);
}

/* Until here init has all capabilities in its user namespace but no id of it, so that it could make
   no file.  The parent has written the maps before it said go.  */
static int step_become_mapped (struct init *init, struct error *err)
{
  const struct plan_user_namespace *user = init->plan->user_namespace;
  const struct plan_process *p = init->plan->process;
  if (user == NULL)
    return 0;
  uid_t uid = is_mapped (user->uid_mappings, user->uid_mappings_len, 0) ? 0 : p->uid;
  gid_t gid = is_mapped (user->gid_mappings, user->gid_mappings_len, 0) ? 0 : p->gid;
  if (!is_mapped (user->uid_mappings, user->uid_mappings_len, uid)
      || !is_mapped (user->gid_mappings, user->gid_mappings_len, gid))
    return error_set (err, -EINVAL,
                      "process.user %u:%u: the user namespace maps neither these ids nor 0", p->uid,
                      p->gid);
  int r = userns_become (uid, gid, init->procfd, err);
  /* The change of user has taken back what init_run asked for.  */
  return r < 0 ? r : process_set_parent_death_signal (SIGKILL, init->setup->parent, err);
}

/* The namespaces that exist already, but for those that the parent chose before the clone, and the
   cgroup namespace, which is made once init is in its cgroup.  */
static int step_join_namespaces (struct init *init, struct error *err)
{
  for (size_t i = 0; i < init->plan->namespaces_len; i++)
    {
      const struct plan_namespace *ns = &init->plan->namespaces[i];
      int fd = setup_descriptor (init->setup, ns->descriptor);
      if (ns->path == NULL || setup_parent_joins (init->plan, ns))
        continue;
      if (setns (fd, (int)ns->flag) < 0)
        return error_errno (err, errno, "join the %s namespace %s", ns->type, ns->path);
    }
  if (init_has_namespace (init, "cgroup", true) && unshare (CLONE_NEWCGROUP) < 0)
    return error_errno (err, errno, "make a cgroup namespace");
  return 0;
}

static int step_open_procfs (struct init *init, struct error *err)
{
  return procfs_open (&init->procfd, err);
}

static int step_take_attributes (struct init *init, struct error *err)
{
  return attributes_take (init->plan, err);
}

static int step_new_keyring (struct init *init, struct error *err)
{
  return init->setup->new_keyring ? keyring_new_session (NULL, err) : 0;
}

static int step_oom_score (struct init *init, struct error *err)
{
  const struct plan_process *p = init->plan->process;
  if (init->plan->user_namespace != NULL)
    return 0; /* the parent did: the file isn't ours */
  return p->has_oom_score_adj ? oom_score_adj_set (init->procfd, p->oom_score_adj, err) : 0;
}

static int step_name_host (struct init *init, struct error *err)
{
  int r = init->plan->hostname ? hostname_set (init->plan->hostname, err) : 0;
  if (r == 0 && init->plan->domainname)
    r = domainname_set (init->plan->domainname, err);
  return r;
}

static int step_loopback (struct init *init, struct error *err)
{
  return init_has_namespace (init, "network", true) ? loopback_up (err) : 0;
}

/* A new pair from the container's own devpts; the master leaves by the console socket, the slave
   becomes /dev/console.  */
static int step_terminal (struct init *init, struct error *err)
{
  if (!init->plan->process->terminal)
    return 0;
  int r = workload_make_terminal (init_workload (init), &init->terminal, err);
  if (r == 0)
    r = terminal_bind_console (init->rootfd, init->terminal.slave, err);
  if (r == 0)
    r = terminal_send (init->setup->console_socket, &init->terminal, err);
  return r;
}

/* Before init waits: as long as it held the caller's streams, the engine, which reads them to their
   end, would wait for it.  */
static int step_take_terminal (struct init *init, struct error *err)
{
  return init->terminal.slave >= 0 ? terminal_take (init->terminal.slave, err) : 0;
}

/* The parent installs the device filter and runs its hooks while the host's root can still be
   reached; createContainer hooks are the host's programs in the container's namespaces.  */
static int step_hooks (struct init *init, struct error *err)
{
  int r = sync_send (init->sync, SYNC_PREPARED, NULL, err);
  if (r == 0)
    r = sync_expect (init->sync, SYNC_HOOKED, &init->state_json, err);
  if (r == 0 && init->plan->hooks != NULL)
    r = hooks_run ("createContainer", init->plan->hooks->create_container,
                   init->plan->hooks->create_container_len, init->setup, init->state_json, err);
  return r;
}

static int step_pivot (struct init *init, struct error *err)
{
  return rootfs_pivot (init->rootfd, err);
}

/* After the hooks: a parameter of an interface needs the interface.  */
static int step_sysctl (struct init *init, struct error *err)
{
  for (size_t i = 0; i < init->plan->sysctl.len; i++)
    {
      int r =
          sysctl_set (init->procfd, init->plan->sysctl.keys[i], init->plan->sysctl.values[i], err);
      if (r < 0)
        return r;
    }
  return 0;
}

/* Root of a user namespace, the container's own or the one that a rootless engine or an ordinary
   user is in, has CAP_SYS_ADMIN over the mount namespace: without this it could take off masks and
   make a read-only bind of the host's writable.  In the initial one, who has that capability is the
   host's root.  The terminal is opened once more, or its name would lead to a mount that is no
   longer there (ttyname(3)).  */
static int step_lock_mounts (struct init *init, struct error *err)
{
  if (!init->setup->lock_mounts)
    return 0;
  int r = mounts_lock (init->procfd, err);
  if (r < 0)
    return r;
  close (init->rootfd);
  init->rootfd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (init->rootfd < 0)
    return error_errno (err, errno, "open the container's root");
  return init->terminal.slave < 0 ? 0 : terminal_reopen (&init->terminal, init->rootfd, err);
}

static int step_environment (struct init *init, struct error *err)
{
  return workload_make_environment (init_workload (init), err);
}

static int step_find_executable (struct init *init, struct error *err)
{
  return workload_find_executable (init_workload (init), err);
}

/* Descriptors of the host (trees, cgroups, the bundle) are closed before anything is looked up by a
   path of the workload's (CVE-2024-21626) and before init waits, which may be for long; what stays
   are the standard streams, what is preserved for the workload, the conversation, the listener and
   the terminal.  */
static int step_close_descriptors (struct init *init, struct error *err)
{
  int keep[] = { init->sync, init->setup->start_listener, init->procfd, init->terminal.slave,
                 init->setup->seccomp_agent };
  return workload_close_descriptors (init->setup->preserve_fds, keep, ARRAY_SIZE (keep), err);
}

static const struct init_step
{
  const char *name;
  int (*run) (struct init *, struct error *);
} steps[] = {
  { "leave the caller's session", step_detach_from_caller },
  { "enter the cgroup", step_enter_cgroup },
  { "open procfs", step_open_procfs },
  { "become a user of the user namespace", step_become_mapped },
  { "join namespaces", step_join_namespaces },
  { "set the OOM score", step_oom_score },
  { "take memory policy and execution domain", step_take_attributes },
  { "make a session keyring", step_new_keyring },
  { "set host names", step_name_host },
  { "bring the loopback interface up", step_loopback },
  { "attach the root file system", init_mount_rootfs },
  { "make mounts", init_mount_all },
  { "mount the notify socket", init_mount_notify },
  { "make devices", init_make_devices },
  { "make the terminal", step_terminal },
  { "make the working directory", init_make_cwd },
  { "run hooks", step_hooks },
  { "change the root", step_pivot },
  { "set kernel parameters", step_sysctl },
  { "mask paths", init_mask },
  { "seal the root file system", init_seal_rootfs },
  { "lock the mounts", step_lock_mounts },
  { "build the environment", step_environment },
  { "close the host's descriptors", step_close_descriptors },
  { "find the program", step_find_executable },
  { "take the terminal", step_take_terminal },
};

/* Waits for `start`, or in `run` for the parent on the old connection: the first who can open the
   state directory and connects.  Its message is the state as JSON; what it gets back is a sentence
   if the workload can't be executed, and the end of the stream if it runs.  */
static int wait_for_start (struct init *init, int *ret_connection, struct error *err)
{
  int fd;
  if (init->setup->start_listener < 0)
    {
      *ret_connection = steal_fd (&init->sync);
      return 0;
    }
  close (init->sync);
  do
    fd = accept4 (init->setup->start_listener, NULL, NULL, SOCK_CLOEXEC);
  while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd < 0)
    return error_errno (err, errno, "wait for start");
  *ret_connection = fd;
  return 0;
}

/* The part of init after create: parked, then started.  */
static int start_workload (struct init *init, int *connection, struct error *err)
{
  int r = wait_for_start (init, connection, err);
  if (r < 0)
    return r;
  if (init->setup->start_listener >= 0)
    close (init->setup->start_listener);
  free (steal_ptr (&init->state_json));
  r = sync_expect (*connection, SYNC_GO, &init->state_json, err);
  if (r == 0 && init->plan->hooks != NULL)
    r = hooks_run_confined ("startContainer", init->plan->hooks->start_container,
                            init->plan->hooks->start_container_len, &init->workload,
                            init->state_json, err);
  if (r == 0 && init->setup->seccomp_agent >= 0)
    r = seccomp_agent_message (init->plan->seccomp, init->state_json, 0,
                               &init->workload.agent_message, err);
  return r < 0 ? r : workload_become (&init->workload, err);
}

_Noreturn void init_run (const struct container_setup *setup, int sync)
{
  struct init init = { .setup = setup,
                       .plan = setup->plan,
                       .sync = sync,
                       .procfd = -1,
                       .rootfd = -1,
                       .proc_tree = -1,
                       .sys_tree = -1,
                       .terminal = TERMINAL_INIT };
  struct error err = { 0 };
  int connection = -1;
  int r = process_set_parent_death_signal (SIGKILL, setup->parent, &err);
  for (size_t i = 0; r == 0 && i < ARRAY_SIZE (steps); i++)
    r = steps[i].run (&init, &err);
  if (r == 0 && prctl (PR_SET_PDEATHSIG, 0) < 0)
    r = error_errno (&err, errno, "outlive create");
  if (r == 0)
    r = sync_send (init.sync, SYNC_READY, NULL, &err);
  if (r < 0)
    {
      sync_send_error (sync, &err);
      _exit (1);
    }
  r = start_workload (&init, &connection, &err);
  if (r < 0 && connection >= 0)
    sync_send_error (connection, &err);
  _exit (r == -ENOENT ? 127 : r == -EACCES ? 126 : 1);
}
