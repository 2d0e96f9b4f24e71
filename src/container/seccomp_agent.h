/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp agent of config-linux.md ("The Container Process State"): who answers for
   SCMP_ACT_NOTIFY.  */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "plan/plan.h"

/* In the parent: connects where the plan's profile has SCMP_ACT_NOTIFY; else *RET stays.  */
int seccomp_agent_connect (const struct plan_seccomp *, int *ret, struct error *err);

/* What the agent is sent with the listener: STATE_JSON is the container's state, PID the process's
   on the host, or 0 for the state's own.  Allocated.  */
int seccomp_agent_message (const struct plan_seccomp *, const char *state_json, pid_t pid,
                           char **ret, struct error *err);
