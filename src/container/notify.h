/* SPDX-License-Identifier: Apache-2.0 */
/* sd_notify(3) for a container: a socket of agentrun's own on a tmpfs of its own, and a process
   that listens to it until the workload is ready.  Nothing of the host's is mounted, and nothing
   that the workload writes is passed on: "READY=1" makes agentrun say so in its own words.  */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "plan/plan.h"

#define NOTIFY_DIRECTORY   "/run/notify"
#define NOTIFY_ENVIRONMENT "NOTIFY_SOCKET=" NOTIFY_DIRECTORY "/notify.sock"

struct notify
{
  int listener; /* what the workload writes to; owned, or -1 */
  int tree;     /* detached, read-only tmpfs with the socket in it; owned, or -1 */
  int manager;  /* connected to the caller's NOTIFY_SOCKET; owned, or -1 */
};
#define NOTIFY_NONE                                                                                \
  {                                                                                                \
    -1, -1, -1                                                                                     \
  }

/* In the parent.  ADDRESS: a path or, with '@' in front, a name of unix(7)'s abstract namespace.
   The socket in the container can be written to by the plan's user alone.  */
int notify_open (const char *address, const struct plan *, struct notify *ret, struct error *err);
void notify_close (struct notify *);

/* In the parent, when init is made: forks the process that waits for "READY=1", says "READY=1" and
   "MAINPID=INIT", and ends; it ends without a word when init (PIDFD) does.  It has no other
   descriptor of the caller's and no privilege.  */
int notify_forward (const struct notify *, pid_t init, int pidfd, struct error *err);
