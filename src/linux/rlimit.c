/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: setting one resource limit.  Runs in init, or in the parent for init; raising a hard limit
   needs CAP_SYS_RESOURCE over the initial user namespace.  */

#include "linux/rlimit.h"

#include <errno.h>
#include <sys/resource.h>

int rlimit_set (const char *name, int resource, uint64_t soft, uint64_t hard, struct error *err)
{
  if (soft > hard)
    return error_set (err, -EINVAL, "%s: soft limit %llu is above hard limit %llu", name,
                      (unsigned long long)soft, (unsigned long long)hard);
  /* RLIM64_INFINITY is UINT64_MAX.  */
  struct rlimit64 limit = { .rlim_cur = soft, .rlim_max = hard };
  if (prlimit64 (0, (enum __rlimit_resource)resource, &limit, NULL) < 0)
    return error_errno (err, errno, "set %s to %llu, %llu", name, (unsigned long long)soft,
                        (unsigned long long)hard);
  return 0;
}

int rlimit_raise_hard_of (pid_t pid, const char *name, int resource, uint64_t hard,
                          struct error *err)
{
  struct rlimit64 now;
  if (prlimit64 (pid, (enum __rlimit_resource)resource, NULL, &now) < 0)
    return error_errno (err, errno, "read %s of the container's init", name);
  if (now.rlim_max >= hard)
    return 0;
  now.rlim_max = hard;
  if (prlimit64 (pid, (enum __rlimit_resource)resource, &now, NULL) < 0)
    return error_errno (err, errno, "raise the hard limit of %s to %llu", name,
                        (unsigned long long)hard);
  return 0;
}
