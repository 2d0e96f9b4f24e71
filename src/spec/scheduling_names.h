/* SPDX-License-Identifier: Apache-2.0 */
/* Names of config.md and config-linux.md for scheduling, I/O priority, memory policy and execution
   domain, and the kernel's numbers for them.  Pure code: one table each.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* -1 if unknown.  */
int scheduler_policy_number (const char *name);   /* "SCHED_IDLE" -> SCHED_IDLE */
int64_t scheduler_flag_number (const char *name); /* "SCHED_FLAG_RECLAIM" -> its bit */
int io_class_number (const char *name);           /* "IOPRIO_CLASS_BE" -> IOPRIO_CLASS_BE */
int memory_mode_number (const char *name);        /* "MPOL_BIND" -> MPOL_BIND */
int64_t memory_flag_number (const char *name);    /* "MPOL_F_STATIC_NODES" -> its bit */
int64_t personality_number (const char *name);    /* "LINUX32" -> PER_LINUX32 */

/* What `features` lists, NULL-terminated.  */
const char *const *memory_mode_names (void);
const char *const *memory_flag_names (void);

/* The modes of set_mempolicy(2) that need a set of nodes, and those that take none.  */
bool memory_mode_needs_nodes (const char *name);
bool memory_mode_refuses_nodes (const char *name);
