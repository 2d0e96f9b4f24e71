/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are written out where a header of libc's or of an older kernel lacks the name, so that
   what agentrun knows doesn't depend on the machine that compiled it.  */
#include "spec/scheduling_names.h"

#include <string.h>

#include "base/str.h"

struct row
{
  const char *name;
  int64_t number;
};

/* sched(7); SCHED_ISO, which config.md lists, was never part of Linux.  */
static const struct row policies[] = {
  { "SCHED_OTHER", 0 }, { "SCHED_FIFO", 1 }, { "SCHED_RR", 2 },
  { "SCHED_BATCH", 3 }, { "SCHED_IDLE", 5 }, { "SCHED_DEADLINE", 6 },
};

/* sched_setattr(2) */
static const struct row policy_flags[] = {
  { "SCHED_FLAG_RESET_ON_FORK", 0x01 },  { "SCHED_FLAG_RECLAIM", 0x02 },
  { "SCHED_FLAG_DL_OVERRUN", 0x04 },     { "SCHED_FLAG_KEEP_POLICY", 0x08 },
  { "SCHED_FLAG_KEEP_PARAMS", 0x10 },    { "SCHED_FLAG_UTIL_CLAMP_MIN", 0x20 },
  { "SCHED_FLAG_UTIL_CLAMP_MAX", 0x40 },
};

/* ioprio_set(2) */
static const struct row io_classes[] = {
  { "IOPRIO_CLASS_RT", 1 },
  { "IOPRIO_CLASS_BE", 2 },
  { "IOPRIO_CLASS_IDLE", 3 },
};

/* personality(2): PER_LINUX32 keeps the kernel's name but says that the machine is a 32-bit one. */
static const struct row personalities[] = { { "LINUX", 0 }, { "LINUX32", 8 } };

/* set_mempolicy(2).  X (name, number)  */
#define MEMORY_MODES(X)                                                                            \
  X ("MPOL_DEFAULT", 0)                                                                            \
  X ("MPOL_PREFERRED", 1)                                                                          \
  X ("MPOL_BIND", 2)                                                                               \
  X ("MPOL_INTERLEAVE", 3)                                                                         \
  X ("MPOL_LOCAL", 4)                                                                              \
  X ("MPOL_PREFERRED_MANY", 5)                                                                     \
  X ("MPOL_WEIGHTED_INTERLEAVE", 6)
#define MEMORY_FLAGS(X)                                                                            \
  X ("MPOL_F_NUMA_BALANCING", 1 << 13)                                                             \
  X ("MPOL_F_RELATIVE_NODES", 1 << 14)                                                             \
  X ("MPOL_F_STATIC_NODES", 1 << 15)

#define ROW(name, number)  { name, number },
#define NAME(name, number) name,

static const struct row memory_modes[] = { MEMORY_MODES (ROW) };
static const struct row memory_flags[] = { MEMORY_FLAGS (ROW) };
static const char *const memory_mode_list[] = { MEMORY_MODES (NAME) NULL };
static const char *const memory_flag_list[] = { MEMORY_FLAGS (NAME) NULL };

static int64_t find (const struct row *rows, size_t n, const char *name)
{
  for (size_t i = 0; name != NULL && i < n; i++)
    if (strcmp (rows[i].name, name) == 0)
      return rows[i].number;
  return -1;
}

#define FIND(table, name) find (table, ARRAY_SIZE (table), name)

int scheduler_policy_number (const char *name) { return (int)FIND (policies, name); }
int64_t scheduler_flag_number (const char *name) { return FIND (policy_flags, name); }
int io_class_number (const char *name) { return (int)FIND (io_classes, name); }
int memory_mode_number (const char *name) { return (int)FIND (memory_modes, name); }
int64_t memory_flag_number (const char *name) { return FIND (memory_flags, name); }
int64_t personality_number (const char *name) { return FIND (personalities, name); }
const char *const *memory_mode_names (void) { return memory_mode_list; }
const char *const *memory_flag_names (void) { return memory_flag_list; }

bool memory_mode_refuses_nodes (const char *name)
{
  return str_equal (name, "MPOL_DEFAULT") || str_equal (name, "MPOL_LOCAL");
}

/* MPOL_PREFERRED without nodes means the local one.  */
bool memory_mode_needs_nodes (const char *name)
{
  return !memory_mode_refuses_nodes (name) && !str_equal (name, "MPOL_PREFERRED");
}
