/* SPDX-License-Identifier: Apache-2.0 */
/* A command that stays while the process runs that it started: `run` and `exec`.  */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "container/relay.h"

/* Blocks, and turns into a descriptor (close-on-exec), all signals but those that are about this
   process itself, and SIGCHLD, which the child's end is told by.  Before the child is made: it gets
   an empty mask of its own.  */
int foreground_signals (int *ret_fd, struct error *err);

/* Waits for the child PID of PIDFD and reaps it, passes on what is sent to this process, and keeps
   RELAY (may be NULL) going until everything is written.  *RET: exit code, or 128 + signal.  */
int foreground_wait (int signals, pid_t pid, int pidfd, struct relay *relay, int *ret,
                     struct error *err);
