/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the kernel, which tells of neither a finished freeze (v1) nor a removable group.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <time.h>

#define LONGEST_MS 100

void wait_and_double (unsigned *ms)
{
  struct timespec t = { .tv_sec = *ms / 1000, .tv_nsec = (long)(*ms % 1000) * 1000000 };

  while (nanosleep (&t, &t) < 0 && errno == EINTR)
    continue;
  *ms = *ms * 2 > LONGEST_MS ? LONGEST_MS : *ms * 2;
}

int64_t monotonic_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
