/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "cgroup/cgroup.h"
#include "container/setup.h"

/* Clones init, as after fork(2), into the plan's namespaces, those made and those joined, and where
   the kernel has control groups v2 into CGROUP.  It is a child of the caller.  Returns 0 in both:
   *RET_PID is 0 in init, and in the caller init's pid in its own pid namespace, with *RET_PIDFD for
   the caller to close.  The process must have one thread.  Negative errno: there is no init, and
   the caller is where it was.  PROCFD: of procfs_open.  clone(2), setns(2), user_namespaces(7).  */
int clone_init (const struct container_setup *, struct cgroup *, int procfd, pid_t *ret_pid,
                int *ret_pidfd, struct error *err);
