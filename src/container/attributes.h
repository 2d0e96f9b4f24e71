/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling, I/O priority, affinity, memory policy and execution domain: the plan's names become
   what the kernel takes.  */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "plan/plan.h"

/* Scheduler and I/O priority, of PID or, with 0, of the caller.  In the parent for init, which may
   lack the rights: both are about the host.  After the last fork of PID: one under SCHED_DEADLINE
   may not fork.  */
int attributes_schedule (pid_t pid, const struct plan_process *, struct error *err);

/* In the process itself: memory policy and execution domain, also the lack of one, since the caller
   may have had another (setarch(8)).  */
int attributes_take (const struct plan *, struct error *err);
