/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in init and in a process that joins, with the privileges of who started it; what needs
   rights over the host (realtime policies, lower nice values) is done by the parent for init.  */
#include "linux/scheduling.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number_list.h"
#include "base/str.h"

#define IOPRIO_OF_PROCESS   1
#define IOPRIO_CLASS_BITS   13 /* the class stands above the level */
#define CPUS_MAX            8192
#define NODES_MAX           1024 /* MAX_NUMNODES of any kernel */
#define WORD_BITS           (8 * sizeof (unsigned long))
#define TIMER_SLACK_DEFAULT 50000UL /* nanoseconds; what the kernel's first process has */

/* An affinity of all bits set is cut to the cpuset by the kernel.  */
static int reset_affinity (void)
{
  unsigned char all[1024];
  memset (all, 0xff, sizeof all);
  return syscall (SYS_sched_setaffinity, 0, sizeof all, all) < 0 ? -errno : 0;
}

int scheduling_reset (struct error *err)
{
  const struct sched_param normal = { .sched_priority = 0 };
  if (sched_getscheduler (0) != SCHED_OTHER && sched_setscheduler (0, SCHED_OTHER, &normal) < 0)
    return error_errno (err, errno, "leave the caller's scheduling policy");
  if (getpriority (PRIO_PROCESS, 0) != 0 && setpriority (PRIO_PROCESS, 0, 0) < 0)
    return error_errno (err, errno, "leave the caller's nice value");
  if (syscall (SYS_ioprio_set, IOPRIO_OF_PROCESS, 0, 0) < 0 && errno != ENOSYS)
    return error_errno (err, errno, "leave the caller's I/O priority");
  int r = reset_affinity ();
  if (r < 0)
    return error_errno (err, -r, "leave the caller's CPU affinity");
  if (prctl (PR_SET_TIMERSLACK, TIMER_SLACK_DEFAULT) < 0)
    return error_errno (err, errno, "leave the caller's timer slack");
  if (prctl (PR_GET_SECUREBITS) != 0 && prctl (PR_SET_SECUREBITS, 0) < 0)
    return error_errno (err, errno, "leave the caller's securebits");
  return 0;
}

/* struct sched_attr of sched_setattr(2), in its first size; libc may lack it or have it.  */
struct attributes
{
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

int scheduling_set (pid_t pid, const struct scheduling *s, struct error *err)
{
  struct attributes a = { sizeof a,    s->policy,  s->flags,    s->nice,
                          s->priority, s->runtime, s->deadline, s->period };
  if (syscall (SYS_sched_setattr, pid, &a, 0) < 0)
    return error_errno (err, errno, "set scheduling policy %u with nice value %d and priority %u%s",
                        s->policy, s->nice, s->priority,
                        errno == EPERM ? " (a realtime budget of the cgroup, or CAP_SYS_NICE?)"
                                       : "");
  return 0;
}

int scheduling_set_io (pid_t pid, int class, int priority, struct error *err)
{
  int value = class << IOPRIO_CLASS_BITS | priority;
  if (syscall (SYS_ioprio_set, IOPRIO_OF_PROCESS, pid, value) < 0)
    return error_errno (err, errno, "set I/O class %d with priority %d", class, priority);
  return 0;
}

int scheduling_set_affinity (const char *list, struct error *err)
{
  unsigned long bits[CPUS_MAX / WORD_BITS];
  char quoted[STR_QUOTE_MAX];
  int r;
  if (list == NULL || list[0] == '\0')
    {
      r = reset_affinity ();
      return r < 0 ? error_errno (err, -r, "set the CPU affinity to all processors") : 0;
    }
  r = number_list_parse (list, bits, ARRAY_SIZE (bits));
  if (r < 0)
    return error_set (err, r, "\"%s\" is no list of processors", str_quote (list, quoted));
  if (syscall (SYS_sched_setaffinity, 0, sizeof bits, bits) < 0)
    return error_errno (err, errno, "set the CPU affinity to \"%s\"", list);
  return 0;
}

int scheduling_set_memory (int mode, const char *nodes, struct error *err)
{
  unsigned long bits[NODES_MAX / WORD_BITS];
  char quoted[STR_QUOTE_MAX];
  bool any = nodes != NULL && nodes[0] != '\0';
  int r = any ? number_list_parse (nodes, bits, ARRAY_SIZE (bits)) : 0;
  if (r < 0)
    return error_set (err, r, "\"%s\" is no list of memory nodes", str_quote (nodes, quoted));
  /* The kernel takes one bit less than it is told.  */
  if (syscall (SYS_set_mempolicy, mode, any ? bits : NULL, any ? NODES_MAX + 1UL : 0UL) < 0)
    return error_errno (err, errno, "set memory policy %d with nodes \"%s\"", mode,
                        any ? nodes : "");
  return 0;
}

int scheduling_set_personality (unsigned long domain, struct error *err)
{
  if (personality (domain) < 0)
    return error_errno (err, errno, "set execution domain 0x%lx", domain);
  return 0;
}
