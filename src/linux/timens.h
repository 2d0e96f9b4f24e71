/* SPDX-License-Identifier: Apache-2.0 */
/* Time namespaces (time_namespaces(7)).  */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct time_offset
{
  const char *clock; /* "monotonic" or "boottime" */
  int64_t secs;
  uint32_t nanosecs;
};

/* In the process that will clone: its children are in a new time namespace with these offsets,
   which can't be changed once anybody is in it.  *RET_OWN leads back (timens_leave); it stays
   untouched on failure, after which nothing has changed.  PROCFD: of procfs_open.  Needs
   CAP_SYS_ADMIN and, for offsets, CAP_SYS_TIME.  An offset before the start of the clock is
   -ERANGE.  */
int timens_make (int procfd, const struct time_offset *offsets, size_t n, int *ret_own,
                 struct error *err);

/* Children of the process are in its own time namespace again.  Closes OWN.  */
int timens_leave (int own, struct error *err);
