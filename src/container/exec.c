/* SPDX-License-Identifier: Apache-2.0 */
/* exec, the parent's side: makes the process that joins (join.c), puts it into the container's
   cgroup and waits until its program runs.  Runs in the command's process, in the caller's
   namespaces and with its privileges.  */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/exec_steps.h"
#include "container/foreground.h"
#include "container/record.h"
#include "container/seccomp_agent.h"
#include "container/sync.h"
#include "container/workload.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/terminal.h"
#include "linux/userns.h"
#include "state/state.h"

#define OOM_SCORE_MAX 32

struct execution
{
  const struct exec_request *request;
  struct container *container;
  struct plan_process process; /* the request's, in the size of the caller's terminal */
  struct joining joining;
  struct cgroup *cgroup;
  int signals;
  int console[2]; /* the relay's socket pair, or -1 */
  struct relay relay;
  bool relaying;
  bool paused;
  pid_t pid;
  int pidfd;
};

static void execution_end (struct execution *e)
{
  if (e->relaying)
    relay_end (&e->relay);
  if (e->cgroup != NULL)
    cgroup_close (e->cgroup);
  seccomp_program_free (&e->joining.seccomp);
  cleanup_closep (&e->joining.init);
  cleanup_closep (&e->joining.seccomp_agent);
  if (e->joining.console_socket != e->console[1])
    cleanup_closep (&e->joining.console_socket);
  cleanup_closep (&e->console[0]);
  cleanup_closep (&e->console[1]);
  cleanup_closep (&e->signals);
  cleanup_closep (&e->pidfd);
}

/* ---- before the clone ---- */

static int check_status (struct execution *e, struct error *err)
{
  const char *id = e->container->id;
  enum container_status status;
  int r = container_status (e->container, &status, err);
  if (r < 0)
    return r;
  if (status == CONTAINER_STOPPED)
    return error_set (err, -ESRCH, "container not running: \"%s\" is stopped", id);
  if (status == CONTAINER_CREATING)
    return error_set (err, -EBUSY, "container \"%s\" is still being created", id);
  if (status == CONTAINER_PAUSED && !e->request->ignore_paused)
    return error_set (err, -EBUSY,
                      "container \"%s\" is paused: resume it first (--ignore-paused waits)", id);
  e->paused = status == CONTAINER_PAUSED;
  return 0;
}

static int read_oom_score (struct execution *e, struct error *err)
{
  cleanup_free char *text = NULL;
  char path[64];
  size_t len;
  int64_t score;
  snprintf (path, sizeof path, "%d/oom_score_adj", (int)e->container->record->pid);
  int r = procfs_read (e->container->procfd, path, OOM_SCORE_MAX, &text, &len, err);
  if (r < 0)
    return r;
  text[strcspn (text, "\n")] = '\0';
  if (str_to_i64 (text, -1000, 1000, &score) < 0)
    return error_set (err, -EBADMSG, "the container's oom_score_adj is no number");
  e->joining.oom_score = (int)score;
  return 0;
}

static int open_init (struct execution *e, struct error *err)
{
  const struct record *record = e->container->record;
  uint64_t flags = 0;
  if (!record->has_namespaces)
    return error_set (err, -EINVAL, "the record of container \"%s\" has no namespaces",
                      e->container->id);
  int r =
      process_open (e->container->procfd, record->pid, record->start_time, &e->joining.init, err);
  if (r == -ESRCH)
    return error_set (err, r, "container not running: \"%s\" has just ended", e->container->id);
  /* An ordinary user without an engine: his containers lie in a user namespace that create entered
     for him.  Behind this everything is as below a rootless engine.  */
  if (r == 0 && geteuid () != 0)
    r = userns_join_owned (e->container->procfd, record->pid, record->plan->user_namespace != NULL,
                           err);
  if (r == 0)
    r = join_compare_namespaces (e->container->procfd, record, &flags, err);
  e->joining.joins_pid = (flags & CLONE_NEWPID) != 0;
  e->joining.join_flags = (int)(flags & ~(uint64_t)CLONE_NEWPID);
  return r < 0 ? r : read_oom_score (e, err);
}

/* --console-socket, or with a terminal in the foreground a relay of our own.  */
static int connect_console (struct execution *e, struct error *err)
{
  const char *path = e->request->console_socket;
  if (!e->process.terminal)
    return path == NULL ? 0
                        : error_set (err, -EINVAL,
                                     "--console-socket is given, but the process has no terminal");
  if (path != NULL)
    return terminal_console_connect (path, &e->joining.console_socket, err);
  if (e->request->detach)
    return error_set (err, -EINVAL,
                      "a terminal and --detach: exec needs --console-socket to hand it over");
  int r = relay_pair (e->console, err);
  if (r < 0)
    return r;
  e->joining.console_socket = e->console[1];
  unsigned height, width;
  if (relay_caller_size (&height, &width))
    {
      e->process.height = height;
      e->process.width = width;
    }
  return 0;
}

static int prepare (struct execution *e, struct error *err)
{
  int r = check_status (e, err);
  if (r == 0)
    r = process_set_undumpable (err);
  if (r == 0)
    r = open_init (e, err);
  if (r == 0)
    r = connect_console (e, err);
  if (r == 0)
    r = workload_make_seccomp (e->container->record->plan->seccomp, &e->joining.seccomp, err);
  if (r == 0)
    r = seccomp_agent_connect (e->container->record->plan->seccomp, &e->joining.seccomp_agent, err);
  if (r == 0)
    r = exec_cgroup_open (e->container, e->request->cgroup, &e->cgroup, err);
  if (r == 0 && !e->request->detach)
    r = foreground_signals (&e->signals, err);
  return r < 0 ? r : workload_preserve_descriptors (e->request->preserve_fds, err);
}

/* ---- the clone ---- */

static pid_t clone_joining (struct execution *e)
{
  struct clone_args args = {
    .flags = CLONE_PIDFD,
    .pidfd = (uint64_t)(uintptr_t)&e->pidfd,
    .exit_signal = SIGCHLD,
  };
  int fd = cgroup_v2_fd (e->cgroup);
  if (fd >= 0)
    {
      args.flags |= CLONE_INTO_CGROUP;
      args.cgroup = (uint64_t)fd;
    }
  return (pid_t)syscall (SYS_clone3, &args, sizeof args);
}

/* The one namespace that is for children only: chosen here, and the choice taken back.  */
static int make_process (struct execution *e, struct error *err)
{
  cleanup_close int own = -1;
  if (e->joining.joins_pid)
    {
      own = openat (e->container->procfd, "self/ns/pid", O_RDONLY | O_CLOEXEC);
      if (own < 0 || setns (e->joining.init, CLONE_NEWPID) < 0)
        return errno == ESRCH ? error_set (err, -ESRCH, "container not running: \"%s\" is ending",
                                           e->container->id)
                              : error_errno (err, errno, "choose the container's pid namespace");
    }
  e->pid = clone_joining (e);
  int saved = errno;
  if (e->pid != 0 && own >= 0 && setns (own, CLONE_NEWPID) < 0 && e->pid < 0)
    return error_errno (err, errno, "return to the own pid namespace");
  return e->pid < 0 ? error_errno (err, saved, "make a process in the container") : 0;
}

/* ---- after the clone ---- */

/* The process can't know its own number on the host.  */
static int agent_message (const struct execution *e, char **ret, struct error *err)
{
  const struct record *record = e->container->record;
  if (e->joining.seccomp_agent < 0)
    return 0;
  cleanup_free char *state = container_state_json (record->plan, record->pid, "running");
  if (state == NULL)
    return error_set (err, -ENOMEM, "out of memory for the container's state");
  return seccomp_agent_message (record->plan->seccomp, state, e->pid, ret, err);
}

/* In a paused container the lock goes before the first answer is waited for: that comes when
   somebody resumes it, who needs the lock.  Into its freezer a process can't go by itself and say
   so.  */
static int let_go (struct execution *e, int sync, struct error *err)
{
  cleanup_free char *message = NULL;
  int r = e->paused ? cgroup_attach_v1 (e->cgroup, e->pid, err)
                    : sync_expect (sync, SYNC_ENTERED, NULL, err);
  if (r == 0 && e->request->pid_file != NULL)
    r = pid_file_write (e->request->pid_file, e->pid, err);
  if (r == 0 && e->request->pidfd_socket != NULL)
    r = pidfd_send (e->request->pidfd_socket, e->pidfd, err);
  state_unlock (&e->container->lock);
  if (r == 0)
    r = agent_message (e, &message, err);
  return r < 0 ? r : sync_send (sync, SYNC_GO, message, err);
}

/* The end of the stream is execve: the descriptor was close-on-exec.  */
static int wait_for_execve (int sync, struct error *err)
{
  struct error end = { 0 };
  int r = sync_expect (sync, SYNC_READY, NULL, err);
  if (r < 0)
    return r;
  r = sync_expect (sync, SYNC_READY, NULL, &end);
  if (r == -EPIPE)
    return 0;
  *err = end;
  return r;
}

static int lead (struct execution *e, int sync, struct error *err)
{
  int r = let_go (e, sync, err);
  if (r == 0)
    r = wait_for_execve (sync, err);
  if (r == 0 && e->console[0] >= 0)
    {
      r = relay_start (e->console[0], &e->relay, err);
      e->relaying = r == 0;
    }
  return r;
}

/* One that ended without a word: its signal is the only thing left to tell.  */
static int give_up (struct execution *e, int r, struct error *err)
{
  int status = 0;
  if (r != -EPIPE)
    kill (e->pid, SIGKILL);
  while (waitpid (e->pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (e->request->pid_file != NULL)
    unlink (e->request->pid_file);
  if (r == -EPIPE && WIFSIGNALED (status))
    return error_set (
        err, r, "the process was ended by signal %d before its program ran%s", WTERMSIG (status),
        WTERMSIG (status) == SIGKILL ? ": has the container ended, or is its memory limit too low?"
                                     : "");
  return r;
}

static int start (struct execution *e, struct error *err)
{
  int ends[2] = { -1, -1 };
  int r = e->paused ? 0 : cgroup_open_doors (e->cgroup, err);
  if (r == 0)
    r = sync_pair (ends, err);
  if (r < 0)
    return r;
  e->joining.cgroup = e->paused ? NULL : e->cgroup;
  r = make_process (e, err);
  if (r == 0 && e->pid == 0)
    {
      struct error late = { 0 };
      /* The parent is not visible from another pid namespace.  */
      r = process_set_parent_death_signal (SIGKILL, e->joining.joins_pid ? 0 : e->joining.parent,
                                           &late);
      if (r < 0)
        _exit (1);
      close (ends[0]);
      join_run (&e->joining, ends[1]);
    }
  close (ends[1]);
  cgroup_close_doors (e->cgroup);
  if (r == 0)
    {
      r = lead (e, ends[0], err);
      if (r < 0)
        r = give_up (e, r, err);
    }
  close (ends[0]);
  return r;
}

int container_exec (struct container *c, const struct exec_request *request, int *ret,
                    struct error *err)
{
  struct execution e = {
    .request = request,
    .container = c,
    .process = *request->process,
    .joining = { .record = c->record,
                 .init = -1,
                 .procfd = c->procfd,
                 .parent = getpid (),
                 .console_socket = -1,
                 .seccomp_agent = -1,
                 .preserve_fds = request->preserve_fds },
    .signals = -1,
    .console = { -1, -1 },
    .pidfd = -1,
  };
  int code = 0;
  e.joining.process = &e.process;
  int r = prepare (&e, err);
  if (r == 0)
    r = start (&e, err);
  if (r == 0 && !request->detach)
    r = foreground_wait (e.signals, e.pid, e.pidfd, e.relaying ? &e.relay : NULL, &code, err);
  execution_end (&e);
  if (r == 0)
    *ret = code;
  return r;
}
