/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.pids.  Pure code.  config-linux.md "PIDs": since runtime-spec 1.3 a limit of 0 is
   a limit like any other, -1 is none, and an absent one leaves pids.max alone.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int plan_pids (struct planner *p, const struct oci_resources *r, struct error *err)
{
  char value[PLAN_VALUE_MAX] = "max";

  if (r->pids == NULL || !r->pids->has_limit)
    return 0;
  if (r->pids->limit < -1)
    return error_set (err, -EINVAL,
                      "linux.resources.pids.limit: %" PRId64
                      " is neither a limit nor -1 (no limit)",
                      r->pids->limit);
  /* Both versions of the controller write "max".  */
  if (r->pids->limit >= 0)
    snprintf (value, sizeof (value), "%" PRId64, r->pids->limit);
  return plan_write (p, CONTROLLER_PIDS, 0, "pids.limit", "pids.max", value, err);
}
