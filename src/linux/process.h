/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by something that can't be reused: pidfd and start time.  And the attributes of the
   calling process that set-up changes.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Field 22 of /proc/PID/stat: clock ticks since boot.  -ESRCH if there is no such process.  */
int process_start_time (int procfd, pid_t pid, uint64_t *ret, struct error *err);

/* A pidfd (close-on-exec, the caller closes) of PID if that process began at START_TIME.  -ESRCH:
   it is gone, or its number belongs to another one now.  A zombie is still there.  */
int process_open (int procfd, pid_t pid, uint64_t start_time, int *ret_pidfd, struct error *err);

/* Whether PID began at START_TIME and has not ended; a zombie has.  */
int process_alive (int procfd, pid_t pid, uint64_t start_time, bool *ret, struct error *err);

/* process_open and pidfd_send_signal(2).  -ESRCH as above.  */
int process_signal (int procfd, pid_t pid, uint64_t start_time, int signal, struct error *err);

/* Waits until the process of PIDFD has ended, child or not; TIMEOUT_MS -1 for ever, else
   -ETIMEDOUT. Does not reap.  */
int process_wait_exit (int pidfd, int timeout_ms, struct error *err);

/* Waits for a child and reaps it.  *RET: exit code, or 128 + signal.  */
int process_wait_child (int pidfd, int *ret, struct error *err);

/* prctl(2) PR_SET_DUMPABLE 0: a process that has joined a container's namespaces can't be traced
   from within, nor its /proc/PID/exe and fd be opened (CVE-2016-9962).  */
int process_set_undumpable (struct error *err);
/* SIGNAL arrives when the parent ends; PARENT is its pid as seen here, or 0 when it lives outside
   of this pid namespace.  -ESRCH if it has ended already.  Does not survive a change of user.  */
int process_set_parent_death_signal (int signal, pid_t parent, struct error *err);
int process_set_subreaper (struct error *err);
/* prctl(2) PR_SET_NO_NEW_PRIVS.  */
int process_set_no_new_privs (struct error *err);

/* All dispositions to SIG_DFL and an empty mask: execve(2) would hand ignored signals on.  PROCFD,
   if it isn't -1, tells which are neither: they need no call.  */
int signals_reset (int procfd, struct error *err);

/* chdir(2) after the pivot and as the workload's user, and the check that the place lies below the
   root (CVE-2024-21626).  */
int process_chdir (const char *cwd, struct error *err);
