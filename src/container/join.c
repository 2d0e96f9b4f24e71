/* SPDX-License-Identifier: Apache-2.0 */
/* The process that joins a running container and becomes a program in it.  The order is the table
   below and nowhere else.  Runs with the parent's privileges until workload_become.

   What an attacker inside waits for is a process of the host's that comes in with something in its
   hands.  So: undumpable from before the clone (CVE-2016-9962: nobody inside traces it or opens its
   fd and exe), in the container's cgroup before anything else, no descriptor of the host when the
   first path is looked up (CVE-2024-21626), procfs by a descriptor that is known to be one
   (CVE-2019-16884), and namespaces that are verified to be those that were judged.  */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/attributes.h"
#include "container/exec_steps.h"
#include "container/sync.h"
#include "container/workload.h"
#include "linux/keyring.h"
#include "linux/oom_score.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/scheduling.h"
#include "spec/names.h"

struct join
{
  const struct joining *joining;
  int sync;
  struct workload workload;
  struct terminal terminal;
};

int join_compare_namespaces (int procfd, const struct record *record, uint64_t *ret_flags,
                             struct error *err)
{
  uint64_t flags = 0;
  for (size_t i = 0; i < record->namespaces_len; i++)
    {
      const struct record_namespace *ns = &record->namespaces[i];
      char path[64];
      struct stat st;
      snprintf (path, sizeof path, "self/ns/%s", namespace_proc_name (ns->type));
      if (fstatat (procfd, path, &st, 0) < 0)
        return error_errno (err, errno, "look at the %s namespace", ns->type);
      if (st.st_dev != ns->dev || st.st_ino != ns->ino)
        flags |= namespace_flag (ns->type);
    }
  *ret_flags = flags;
  return 0;
}

static int step_leave_caller (struct join *j, struct error *err)
{
  const struct oci_exec_cpu_affinity *a = j->joining->process->exec_cpu_affinity;
  int r = workload_leave_caller (j->joining->procfd, err);
  if (r == 0 && a != NULL && a->initial != NULL)
    r = scheduling_set_affinity (a->initial, err);
  return r < 0 && a != NULL ? error_context (err, "process.execCPUAffinity.initial") : r;
}

static int step_enter_cgroup (struct join *j, struct error *err)
{
  if (j->joining->cgroup == NULL)
    return 0;
  int r = cgroup_enter_v1 (j->joining->cgroup, err);
  return r < 0 ? r : sync_send (j->sync, SYNC_ENTERED, NULL, err);
}

static int step_wait_for_parent (struct join *j, struct error *err)
{
  return sync_expect (j->sync, SYNC_GO, &j->workload.agent_message, err);
}

/* By the host's procfs: the caller's score is an engine's, which may be one that is never killed.
 */
static int step_oom_score (struct join *j, struct error *err)
{
  const struct plan_process *p = j->joining->process;
  return oom_score_adj_set (j->joining->procfd,
                            p->has_oom_score_adj ? p->oom_score_adj : j->joining->oom_score, err);
}

/* While the rights over the host are still there.  The affinity of the time before the cgroup does
   not outlast it.  */
static int step_schedule (struct join *j, struct error *err)
{
  const struct plan_process *p = j->joining->process;
  const struct oci_exec_cpu_affinity *a = p->exec_cpu_affinity;
  int r = a != NULL ? scheduling_set_affinity (a->final, err) : 0;
  if (r < 0)
    return error_context (err, "process.execCPUAffinity.final");
  r = attributes_take (j->joining->record->plan, err);
  return r < 0 ? r : attributes_schedule (0, p, err);
}

/* By one pidfd, whose process was verified: no path below /proc/PID that could be another's by now.
   Root and working directory become the container's.  */
static int step_join (struct join *j, struct error *err)
{
  int flags = j->joining->join_flags;
  if (flags != 0 && setns (j->joining->init, flags) < 0)
    return error_errno (err, errno, "join the container's namespaces");
  if ((flags & CLONE_NEWUSER) != 0
      && (setgroups (0, NULL) < 0 || setresgid (0, 0, 0) < 0 || setresuid (0, 0, 0) < 0))
    return error_errno (err, errno, "become root of the container's user namespace");
  return process_set_undumpable (err); /* a change of user or namespace may have undone it */
}

static int step_close_descriptors (struct join *j, struct error *err)
{
  int keep[] = { j->sync, j->joining->console_socket, j->joining->seccomp_agent };
  return workload_close_descriptors (j->joining->preserve_fds, keep, ARRAY_SIZE (keep), err);
}

static int step_open (struct join *j, struct error *err)
{
  struct workload *w = &j->workload;
  int r = procfs_open (&w->procfd, err);
  if (r < 0)
    return r;
  w->rootfd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return w->rootfd < 0 ? error_errno (err, errno, "open the container's root") : 0;
}

/* init may have gone on into namespaces of its own, with mounts that nobody has judged.  */
static int step_verify (struct join *j, struct error *err)
{
  uint64_t other;
  int r = join_compare_namespaces (j->workload.procfd, j->joining->record, &other, err);
  if (r < 0 || other == 0)
    return r;
  for (int bit = 0; bit < 64; bit++)
    if ((other & (UINT64_C (1) << bit)) != 0)
      return error_set (
          err, -EXDEV,
          "the container's first process has left the %s namespace that the container "
          "was created with: nothing is started there",
          namespace_type ((uint32_t)(UINT64_C (1) << bit)));
  return 0;
}

static int step_keyring (struct join *j, struct error *err)
{
  (void)j;
  return keyring_new_session (NULL, err);
}

static int step_environment (struct join *j, struct error *err)
{
  return workload_make_environment (&j->workload, err);
}

static int step_terminal (struct join *j, struct error *err)
{
  if (!j->joining->process->terminal)
    return 0;
  int r = workload_make_terminal (&j->workload, &j->terminal, err);
  return r < 0 ? r : terminal_send (j->joining->console_socket, &j->terminal, err);
}

static int step_find_executable (struct join *j, struct error *err)
{
  return workload_find_executable (&j->workload, err);
}

static int step_take_terminal (struct join *j, struct error *err)
{
  return j->terminal.slave >= 0 ? terminal_take (j->terminal.slave, err) : 0;
}

/* From here on the parent may end without us.  */
static int step_ready (struct join *j, struct error *err)
{
  if (prctl (PR_SET_PDEATHSIG, 0L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "outlive exec");
  return sync_send (j->sync, SYNC_READY, NULL, err);
}

static const struct join_step
{
  const char *name;
  int (*run) (struct join *, struct error *);
} steps[] = {
  { "enter the cgroup", step_enter_cgroup },
  { "leave the caller's session", step_leave_caller },
  { "wait for the parent", step_wait_for_parent },
  { "set the OOM score", step_oom_score },
  { "take scheduling and execution domain", step_schedule },
  { "join namespaces", step_join },
  { "close the host's descriptors", step_close_descriptors },
  { "open procfs and root", step_open },
  { "verify the namespaces", step_verify },
  { "make a session keyring", step_keyring },
  { "build the environment", step_environment },
  { "make the terminal", step_terminal },
  { "find the program", step_find_executable },
  { "take the terminal", step_take_terminal },
  { "say that all is ready", step_ready },
};

_Noreturn void join_run (const struct joining *joining, int sync)
{
  struct join j = {
    .joining = joining,
    .sync = sync,
    .workload = { .process = joining->process,
                  .seccomp = &joining->seccomp,
                  .seccomp_agent = joining->seccomp_agent,
                  .preserve_fds = joining->preserve_fds,
                  .procfd = -1,
                  .rootfd = -1 },
    .terminal = TERMINAL_INIT,
  };
  struct error err = { 0 };
  int r = 0;
  for (size_t i = 0; r == 0 && i < ARRAY_SIZE (steps); i++)
    r = steps[i].run (&j, &err);
  if (r == 0)
    r = workload_become (&j.workload, &err);
  sync_send_error (sync, &err);
  _exit (r == -ENOENT ? 127 : r == -EACCES ? 126 : 1);
}
