/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits, setrlimit(2); process.rlimits of the runtime-spec.  */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* NAME ("RLIMIT_NOFILE") is for the message.  UINT64_MAX is RLIM_INFINITY.  SOFT above HARD is
   -EINVAL.  Raising HARD needs CAP_SYS_RESOURCE.  */
int rlimit_set (const char *name, int resource, uint64_t soft, uint64_t hard, struct error *err);

/* Raises the hard limit of PID to HARD if it is lower, and nothing else: for a child in a new user
   namespace, which could not raise it itself before it sets its limits.  */
int rlimit_raise_hard_of (pid_t pid, const char *name, int resource, uint64_t hard,
                          struct error *err);
