/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.cpu.cpus and .mems.  Pure code.  config-linux.md "CPU", cpuset(7).  */
#include "cgroup/internal.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

/* An empty list means nothing asked for; the kernel itself judges the rest.  */
static int plan_list (struct planner *p, const char *field, const char *file, const char *list,
                      struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  if (list == NULL || list[0] == '\0')
    return 0;
  if (list[strspn (list, "0123456789,-")] != '\0')
    return error_set (err, -EINVAL, "linux.resources.%s: %s is not a list like 0-3,7", field,
                      str_quote (list, quoted));
  return plan_write (p, CONTROLLER_CPUSET, 0, field, file, list, err);
}

int plan_cpuset (struct planner *p, const struct oci_resources *r, struct error *err)
{
  int ret;

  if (r->cpu == NULL)
    return 0;
  ret = plan_list (p, "cpu.cpus", "cpuset.cpus", r->cpu->cpus, err);
  return ret < 0 ? ret : plan_list (p, "cpu.mems", "cpuset.mems", r->cpu->mems, err);
}
