/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the one poll loop of a command in the foreground.  Needs no privilege but to signal its
   child.  */
#include "container/foreground.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/str.h"
#include "linux/process.h"

/* How long a terminal is listened to after the process has ended while others still have it open.
 */
#define LAST_OUTPUT_MS 200

int foreground_signals (int *ret_fd, struct error *err)
{
  static const int own[] = { SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF, SIGURG };
  sigset_t set;
  sigfillset (&set);
  for (size_t i = 0; i < ARRAY_SIZE (own); i++)
    sigdelset (&set, own[i]);
  if (sigprocmask (SIG_BLOCK, &set, NULL) < 0)
    return error_errno (err, errno, "block signals");
  *ret_fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return *ret_fd < 0 ? error_errno (err, errno, "open a signal descriptor") : 0;
}

/* PID is our own unreaped child: the number is still its.  After its end: -1.  */
static bool forward_signals (int signals, pid_t pid, struct relay *relay)
{
  struct signalfd_siginfo info;
  bool any = false;
  while (read (signals, &info, sizeof info) == (ssize_t)sizeof info)
    {
      if (info.ssi_signo == SIGPIPE && info.ssi_pid == (uint32_t)getpid ())
        continue; /* of our own write to a closed pipe */
      if (info.ssi_signo == SIGWINCH && relay != NULL)
        relay_resize (relay);
      if (info.ssi_signo == SIGWINCH)
        continue;
      any = true;
      if (pid > 0)
        kill (pid, (int)info.ssi_signo);
    }
  return any;
}

struct foreground
{
  int signals;
  pid_t pid; /* -1 once it has ended */
  int pidfd;
  struct relay *relay;
  int code;
};

/* 0: go on; 1: done.  */
static int turn (struct foreground *f, struct error *err)
{
  struct pollfd fds[2 + RELAY_POLL] = { { f->pid > 0 ? f->pidfd : -1, POLLIN, 0 },
                                        { f->signals, POLLIN, 0 } };
  if (f->relay != NULL)
    relay_prepare (f->relay, &fds[2]);
  int n = poll (fds, f->relay != NULL ? ARRAY_SIZE (fds) : 2, f->pid > 0 ? -1 : LAST_OUTPUT_MS);
  if (n < 0)
    return errno == EINTR ? 0 : error_errno (err, errno, "wait for the process");
  if ((fds[1].revents & POLLIN) != 0 && forward_signals (f->signals, f->pid, f->relay)
      && f->pid < 0)
    return 1; /* nobody reads the rest, and somebody wants an end of it */
  if ((fds[0].revents & POLLIN) != 0)
    {
      int r = process_wait_child (f->pidfd, &f->code, err);
      if (r < 0 || f->relay == NULL)
        return r < 0 ? r : 1;
      f->pid = -1;
      relay_stop_input (f->relay);
    }
  if (f->relay == NULL)
    return 0;
  relay_transfer (f->relay, &fds[2]);
  return f->pid < 0 && (relay_is_over (f->relay) || (n == 0 && !relay_has_output (f->relay)));
}

int foreground_wait (int signals, pid_t pid, int pidfd, struct relay *relay, int *ret,
                     struct error *err)
{
  struct foreground f = { signals, pid, pidfd, relay, 0 };
  int r;
  do
    r = turn (&f, err);
  while (r == 0);
  if (r < 0)
    return r;
  *ret = f.code;
  return 0;
}
