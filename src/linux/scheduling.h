/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling attributes that a process inherits.  */
#pragma once

#include "base/error.h"

/* Gives the calling thread what a process has that nobody changed: SCHED_OTHER with nice value 0,
   no I/O priority, every processor that its cpuset has, the default timer slack, no securebits.  An
   engine that runs niced or pinned must not make its containers so (sched(7), ioprio_set(2),
   prctl(2)).  Needs CAP_SYS_NICE only where the caller was given a lower priority.  */
int scheduling_reset (struct error *err);
