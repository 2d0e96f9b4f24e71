/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling attributes that a process inherits.  Numbers are the kernel's.  */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Gives the calling thread what a process has that nobody changed: SCHED_OTHER with nice value 0,
   no I/O priority, every processor that its cpuset has, the default timer slack, no securebits.  An
   engine that runs niced or pinned must not make its containers so (sched(7), ioprio_set(2),
   prctl(2)).  Needs CAP_SYS_NICE only where the caller was given a lower priority.  */
int scheduling_reset (struct error *err);

/* sched_setattr(2) for PID, 0 for the caller.  Times in nanoseconds.  */
struct scheduling
{
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
int scheduling_set (pid_t pid, const struct scheduling *, struct error *err);

/* ioprio_set(2) for PID, 0 for the caller.  */
int scheduling_set_io (pid_t pid, int class, int priority, struct error *err);

/* sched_setaffinity(2) for the caller.  LIST as "0-3,7"; NULL or "" for every processor that the
   cpuset has.  A list that has none of these is -EINVAL.  */
int scheduling_set_affinity (const char *list, struct error *err);

/* set_mempolicy(2) for the caller; it outlives execve.  NODES as "0-3,7", or NULL or "" for none.
   MODE holds the flags as well.  A node that the cpuset doesn't have is -EINVAL.  */
int scheduling_set_memory (int mode, const char *nodes, struct error *err);

/* personality(2) for the caller.  */
int scheduling_set_personality (unsigned long domain, struct error *err);
