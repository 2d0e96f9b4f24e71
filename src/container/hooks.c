/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent (prestart, createRuntime, poststart, poststop) and in init (createContainer,
   startContainer), with the privileges that these have.  */
#include "container/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "container/container.h"
#include "linux/process.h"

#define OUTPUT_MAX     1024 /* of what a failing hook printed, for the message */
#define HOOK_CANT_EXEC 127

#ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 0x0008U
#endif

struct running_hook
{
  pid_t pid;
  int pidfd;
  int output; /* its stdout and stderr, non-blocking */
  char text[OUTPUT_MAX];
  size_t text_len;
};

/* The state in a memory file: a hook that never reads it can't block us.  */
static int make_input (const char *json, int *ret_fd, struct error *err)
{
  cleanup_close int fd = memfd_create ("state", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL)
    fd = memfd_create ("state", MFD_CLOEXEC); /* before Linux 6.3 */
  if (fd < 0)
    return error_errno (err, errno, "make a memory file for a hook's input");
  int r = fd_write_all (fd, json, strlen (json), err);
  if (r < 0)
    return r;
  if (lseek (fd, 0, SEEK_SET) < 0)
    return error_errno (err, errno, "rewind a hook's input");
  *ret_fd = steal_fd (&fd);
  return 0;
}

static _Noreturn void exec_hook (const struct plan_hook *hook, int fd, char **argv, char **envp)
{
  if (fd < 0)
    execve (hook->path, argv, envp);
  else
    {
      execveat (fd, "", argv, envp, AT_EMPTY_PATH);
      /* A script's interpreter opens the script again through /dev/fd/N.  */
      if (errno == ENOENT && fcntl (fd, F_SETFD, 0) == 0)
        execveat (fd, "", argv, envp, AT_EMPTY_PATH);
    }
  dprintf (2, "%s", errno_name (errno));
  _exit (HOOK_CANT_EXEC);
}

/* A program of the image gets no right that the workload could not have.  */
static void confine (const struct workload *workload)
{
  struct error err;
  if (workload != NULL && workload_confine (workload, &err) < 0)
    {
      dprintf (2, "%s", err.message);
      _exit (HOOK_CANT_EXEC);
    }
}

static _Noreturn void hook_child (const struct plan_hook *hook, int fd,
                                  const struct workload *workload, int input, int output)
{
  struct error err;
  cleanup_free char **argv = calloc (hook->args_len + 2, sizeof *argv);
  cleanup_free char **envp = calloc (hook->env_len + 1, sizeof *envp);
  if (argv == NULL || envp == NULL || signals_reset (-1, &err) < 0 || setsid () < 0
      || chdir ("/") < 0 || dup2 (input, 0) < 0 || dup2 (output, 1) < 0 || dup2 (output, 2) < 0)
    _exit (HOOK_CANT_EXEC);
  umask (0022); /* init's own is 0 */
  if (hook->args_len == 0)
    argv[0] = hook->path;
  for (size_t i = 0; i < hook->args_len; i++)
    argv[i] = hook->args[i];
  for (size_t i = 0; i < hook->env_len; i++)
    envp[i] = hook->env[i];
  /* --preserve-fds are the workload's, not a hook's.  */
  if (fd_cloexec_from (3, &err) < 0)
    _exit (HOOK_CANT_EXEC);
  confine (workload);
  exec_hook (hook, fd, argv, envp);
}

static int start_hook (const struct plan_hook *hook, int fd, const struct workload *workload,
                       const char *state_json, struct running_hook *ret, struct error *err)
{
  cleanup_close int input = -1, writing = -1;
  int ends[2];
  int r = make_input (state_json, &input, err);
  if (r < 0)
    return r;
  if (pipe2 (ends, O_CLOEXEC | O_NONBLOCK) < 0)
    return error_errno (err, errno, "make a pipe for a hook's output");
  ret->output = ends[0];
  writing = ends[1];
  ret->pid = fork ();
  if (ret->pid < 0)
    return error_errno (err, errno, "fork for a hook");
  if (ret->pid == 0)
    {
      fcntl (writing, F_SETFL, 0); /* the hook's own view of it is an ordinary, blocking pipe */
      hook_child (hook, fd, workload, input, writing);
    }
  ret->pidfd = fd_pidfd_open (ret->pid);
  return ret->pidfd < 0 ? error_errno (err, -ret->pidfd, "open a pidfd of a hook") : 0;
}

static void read_output (struct running_hook *hook)
{
  char bytes[512];
  ssize_t n;
  while ((n = read (hook->output, bytes, sizeof bytes)) > 0)
    {
      size_t room = sizeof hook->text - 1 - hook->text_len;
      size_t take = (size_t)n < room ? (size_t)n : room;
      memcpy (hook->text + hook->text_len, bytes, take);
      hook->text_len += take;
    }
  if (n == 0)
    {
      cleanup_closep (&hook->output);
      hook->output = -1;
    }
  hook->text[hook->text_len] = '\0';
}

static int64_t now_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the end of the hook itself, not of its output: what it left running may keep the pipe.
   Returns -ETIMEDOUT at the deadline.  */
static int watch_hook (struct running_hook *hook, unsigned timeout)
{
  int64_t deadline = timeout > 0 ? now_ms () + (int64_t)timeout * 1000 : 0;
  for (;;)
    {
      struct pollfd fds[2] = { { hook->pidfd, POLLIN, 0 }, { hook->output, POLLIN, 0 } };
      int64_t left = timeout > 0 ? deadline - now_ms () : -1;
      if (timeout > 0 && left <= 0)
        return -ETIMEDOUT;
      if (poll (fds, 2, left > 3600000 ? 3600000 : (int)left) < 0 && errno != EINTR)
        return -errno;
      if (hook->output >= 0)
        read_output (hook);
      if ((fds[0].revents & POLLIN) != 0)
        return 0;
    }
}

/* Reaps, after killing the hook's whole session when it ran over.  Returns the wait status.  */
static int end_hook (struct running_hook *hook, bool kill_it)
{
  int status = 0;
  if (hook->pid <= 0)
    return 0;
  if (kill_it)
    {
      kill (-hook->pid, SIGKILL);
      kill (hook->pid, SIGKILL);
    }
  while (waitpid (hook->pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

static int judge_hook (const char *kind, const struct plan_hook *hook, int status,
                       const struct running_hook *ran, struct error *err)
{
  char path[STR_QUOTE_MAX], text[STR_QUOTE_MAX];
  const char *said = ran->text_len > 0 ? str_quote (ran->text, text) : "nothing";
  str_quote (hook->path, path);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return 0;
  if (WIFSIGNALED (status))
    return error_set (err, -ECANCELED, "%s hook %s was ended by signal %d; it said: %s", kind, path,
                      WTERMSIG (status), said);
  return error_set (err, -ECANCELED, "%s hook %s ended with exit code %d; it said: %s", kind, path,
                    WEXITSTATUS (status), said);
}

static int run_hook (const char *kind, const struct plan_hook *hook, int fd,
                     const struct workload *workload, const char *state_json, struct error *err)
{
  struct running_hook running = { .pid = -1, .pidfd = -1, .output = -1 };
  char path[STR_QUOTE_MAX];
  int r = start_hook (hook, fd, workload, state_json, &running, err);
  if (r == 0)
    {
      int watched = watch_hook (&running, hook->timeout);
      int status = end_hook (&running, watched < 0);
      if (watched == -ETIMEDOUT)
        r = error_set (err, -ETIMEDOUT, "%s hook %s ran longer than its timeout of %u s", kind,
                       str_quote (hook->path, path), hook->timeout);
      else if (watched < 0)
        r = error_errno (err, -watched, "wait for %s hook %s", kind, str_quote (hook->path, path));
      else
        r = judge_hook (kind, hook, status, &running, err);
    }
  else
    end_hook (&running, true);
  cleanup_closep (&running.pidfd);
  cleanup_closep (&running.output);
  if (r < 0 && err != NULL)
    err->code = -ECANCELED;
  return r < 0 ? -ECANCELED : 0;
}

int hooks_run (const char *kind, const struct plan_hook *hooks, size_t len,
               const struct container_setup *setup, const char *state_json, struct error *err)
{
  for (size_t i = 0; i < len; i++)
    {
      int fd = setup ? setup_descriptor (setup, hooks[i].descriptor) : -1;
      int r = run_hook (kind, &hooks[i], fd, NULL, state_json, err);
      if (r < 0)
        return r;
    }
  return 0;
}

int hooks_run_confined (const char *kind, const struct plan_hook *hooks, size_t len,
                        const struct workload *workload, const char *state_json, struct error *err)
{
  int r = 0;
  for (size_t i = 0; r == 0 && i < len; i++)
    r = run_hook (kind, &hooks[i], -1, workload, state_json, err);
  return r;
}

void hooks_run_poststop (const struct plan *plan)
{
  const struct plan_hooks *h = plan->hooks;
  cleanup_free char *state =
      h != NULL && h->poststop_len > 0 ? container_state_json (plan, 0, "stopped") : NULL;
  for (size_t i = 0; state != NULL && i < h->poststop_len; i++)
    {
      struct error err = { 0 };
      if (run_hook ("poststop", &h->poststop[i], -1, NULL, state, &err) < 0)
        log_write (LOG_LEVEL_WARNING, "%s", err.message);
    }
}
