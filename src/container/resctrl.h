/* SPDX-License-Identifier: Apache-2.0 */
/* linux.intelRdt of a plan.  In the parent.  */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "plan/plan.h"

/* Puts PID into the plan's group, if it has one; *RET_MADE: which was made for it.  */
int resctrl_enter (const struct plan *, pid_t pid, bool *ret_made, struct error *err);

/* Writes LINES to the group of PLAN's container, which has one.  */
int resctrl_update (const struct plan *, char *const *lines, size_t len, struct error *err);

/* Removes what resctrl_enter made.  */
int resctrl_leave (const struct plan *, bool made, struct error *err);
