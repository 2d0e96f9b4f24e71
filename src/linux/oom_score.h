/* SPDX-License-Identifier: Apache-2.0 */
/* oom_score_adj, proc_pid_oom_score_adj(5).  Not called oom.h: that name hides <linux/oom.h>.  */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* For the caller.  VALUE is -1000 ... 1000, else -ERANGE.  Lowering it needs CAP_SYS_RESOURCE.
   Before the change of user: afterwards the file belongs to root.  */
int oom_score_adj_set (int procfd, int value, struct error *err);

/* The same for PID, a number in PROCFD.  For a child in a new user namespace: its file belongs to
   the root of the namespace in which the program was executed, so it can't write it itself.  */
int oom_score_adj_set_of (int procfd, pid_t pid, int value, struct error *err);
