/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in init, with the privileges of who started it.  */
#include "linux/scheduling.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IOPRIO_OF_PROCESS   1
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
