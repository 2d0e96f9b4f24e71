/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: finding a process again without confusing it with its successor of the same number, and the
   prctl(2) attributes of our own.  Runs everywhere; privileges are those of the signal sent.  */

#include "linux/process.h"

#include <errno.h>
#include <limits.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "linux/procfs.h"

#define STAT_MAX 4096

/* Fields of /proc/PID/stat by their number in proc_pid_stat(5).  */
#define FIELD_STATE      3
#define FIELD_START_TIME 22

static int gone (pid_t pid, struct error *err)
{
  return error_set (err, -ESRCH, "process %d is gone", (int)pid);
}

/* Field 2, the command, may hold blanks, parentheses and line ends: counting starts behind the last
   ')' of the text.  */
static char *behind_command (char *text)
{
  char *close = strrchr (text, ')');
  return close != NULL && close[1] == ' ' ? close + 2 : NULL;
}

static int read_stat (int procfd, pid_t pid, char *ret_state, uint64_t *ret_start,
                      struct error *err)
{
  char path[32];
  cleanup_free char *text = NULL;
  size_t len;
  snprintf (path, sizeof (path), "%d/stat", (int)pid);
  int r = procfs_read (procfd, path, STAT_MAX, &text, &len, err);
  if (r == -ENOENT || r == -ESRCH)
    return gone (pid, err);
  if (r < 0)
    return r;

  char *rest = NULL;
  char *field = behind_command (text);
  field = field != NULL ? strtok_r (field, " ", &rest) : NULL;
  if (field == NULL)
    return error_set (err, -EBADMSG, "procfs %s is malformed", path);
  char state = field[0];
  for (int i = FIELD_STATE; i < FIELD_START_TIME && field != NULL; i++)
    field = strtok_r (NULL, " ", &rest);
  uint64_t start;
  if (field == NULL || str_to_u64 (field, 0, UINT64_MAX, &start) < 0)
    return error_set (err, -EBADMSG, "procfs %s is malformed", path);
  *ret_state = state;
  *ret_start = start;
  return 0;
}

int process_start_time (int procfd, pid_t pid, uint64_t *ret, struct error *err)
{
  char state;
  return read_stat (procfd, pid, &state, ret, err);
}

int process_open (int procfd, pid_t pid, uint64_t start_time, int *ret_pidfd, struct error *err)
{
  cleanup_close int pidfd = fd_pidfd_open (pid);
  if (pidfd == -ESRCH)
    return gone (pid, err);
  if (pidfd < 0)
    return error_errno (err, -pidfd, "open process %d", (int)pid);

  /* Only now: had the process ended and its number been given away before the pidfd was opened, the
     start time is the successor's.  */
  uint64_t now;
  int r = process_start_time (procfd, pid, &now, err);
  if (r < 0)
    return r;
  if (now != start_time)
    return gone (pid, err);
  *ret_pidfd = steal_fd (&pidfd);
  return 0;
}

int process_alive (int procfd, pid_t pid, uint64_t start_time, bool *ret, struct error *err)
{
  char state;
  uint64_t start;
  int r = read_stat (procfd, pid, &state, &start, err);
  if (r < 0 && r != -ESRCH)
    return r;
  *ret = r == 0 && start == start_time && state != 'Z' && state != 'X';
  return 0;
}

int process_signal (int procfd, pid_t pid, uint64_t start_time, int signal, struct error *err)
{
  cleanup_close int pidfd = -1;
  int r = process_open (procfd, pid, start_time, &pidfd, err);
  if (r < 0)
    return r;
  if (syscall (SYS_pidfd_send_signal, pidfd, signal, NULL, 0) == 0)
    return 0;
  return errno == ESRCH
             ? gone (pid, err)
             : error_errno (err, errno, "send signal %d to process %d", signal, (int)pid);
}

static int64_t now_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int process_wait_exit (int pidfd, int timeout_ms, struct error *err)
{
  const int64_t end = now_ms () + timeout_ms;
  for (;;)
    {
      int64_t left = timeout_ms < 0 ? -1 : end - now_ms ();
      struct pollfd wait = { .fd = pidfd, .events = POLLIN };
      int n = poll (&wait, 1, timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return error_errno (err, errno, "wait for a process");
      if (n == 0)
        return error_set (err, -ETIMEDOUT, "the process has not ended within %d ms", timeout_ms);
      if (wait.revents & POLLNVAL)
        return error_errno (err, EBADF, "wait for a process");
      return 0;
    }
}

int process_wait_child (int pidfd, int *ret, struct error *err)
{
  siginfo_t info = { 0 };
  int r;
  do
    r = waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED);
  while (r < 0 && errno == EINTR);
  if (r < 0)
    return error_errno (err, errno, "wait for a child");
  *ret = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return 0;
}

int process_set_undumpable (struct error *err)
{
  if (prctl (PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "make this process undumpable");
  return 0;
}

int process_set_parent_death_signal (int signal, pid_t parent, struct error *err)
{
  if (prctl (PR_SET_PDEATHSIG, (long)signal, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "set the signal for the parent's end");
  /* The parent may have ended before the call: then no signal ever comes.  */
  if (getppid () != parent)
    return error_set (err, -ESRCH, "the parent process has ended");
  return 0;
}

int process_set_subreaper (struct error *err)
{
  if (prctl (PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "become a child subreaper");
  return 0;
}

int process_set_no_new_privs (struct error *err)
{
  if (prctl (PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "set no_new_privs");
  return 0;
}

/* Those that are ignored or have a handler; all, where that can't be asked.  */
static uint64_t changed_signals (int procfd)
{
  static const char *const names[] = { "SigIgn", "SigCgt" };
  uint64_t masks[2];
  if (procfd < 0 || procfs_own_masks (procfd, names, masks, 2, NULL) < 0)
    return UINT64_MAX;
  return masks[0] | masks[1];
}

int signals_reset (int procfd, struct error *err)
{
  /* By system call: libc's sigaction refuses the two signals that it keeps for itself, and they can
     be ignored as well.  All zero is SIG_DFL, no flags, an empty mask, in every layout of the
     kernel's struct; its mask has 64 bits.  */
  const unsigned long defaults[8] = { 0 };
  const uint64_t mask = changed_signals (procfd);
  for (int signal = 1; signal <= 64; signal++)
    if ((mask & (UINT64_C (1) << (signal - 1))) != 0 && signal != SIGKILL && signal != SIGSTOP
        && syscall (SYS_rt_sigaction, signal, defaults, NULL, (size_t)8) < 0)
      return error_errno (err, errno, "reset signal %d", signal);
  sigset_t none;
  sigemptyset (&none);
  if (sigprocmask (SIG_SETMASK, &none, NULL) < 0)
    return error_errno (err, errno, "unblock signals");
  return 0;
}

int process_chdir (const char *cwd, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  str_quote (cwd, quoted);
  if (chdir (cwd) < 0)
    return error_errno (err, errno, "chdir to process.cwd %s", quoted);
  /* The system call: libc's getcwd hides "(unreachable)", which is what a directory outside of the
     root has in front.  */
  char path[PATH_MAX];
  if (syscall (SYS_getcwd, path, sizeof (path)) < 0)
    return error_errno (err, errno, "process.cwd %s", quoted);
  if (path[0] != '/')
    return error_set (err, -EXDEV, "process.cwd %s lies outside of the root file system", quoted);
  return 0;
}
