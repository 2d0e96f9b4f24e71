/* SPDX-License-Identifier: Apache-2.0 */
#include "container/resctrl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/intel_rdt.h"

static int call (const struct plan *plan, pid_t pid, bool *made, struct error *err)
{
  const struct plan_intel_rdt *p = plan->intel_rdt;
  cleanup_close int root = -1;
  const struct intel_rdt r = {
    .group = p->group,
    .named = p->named,
    .lines = p->schemata,
    .lines_len = p->schemata_len,
    .monitor = p->monitoring ? plan->id : NULL,
  };
  int result = intel_rdt_open (&root, err);
  if (result == 0)
    result = pid > 0 ? intel_rdt_enter (root, &r, pid, made, err)
                     : intel_rdt_leave (root, &r, *made, err);
  return result < 0 ? error_context (err, "linux.intelRdt") : 0;
}

int resctrl_update (const struct plan *plan, char *const *lines, size_t len, struct error *err)
{
  const struct intel_rdt r = { .group = plan->intel_rdt->group, .lines = lines, .lines_len = len };
  cleanup_close int root = -1;
  int result = intel_rdt_open (&root, err);
  if (result == 0)
    result = intel_rdt_update (root, &r, err);
  return result < 0 ? error_context (err, "linux.intelRdt") : 0;
}

int resctrl_enter (const struct plan *plan, pid_t pid, bool *ret_made, struct error *err)
{
  return plan->intel_rdt == NULL ? 0 : call (plan, pid, ret_made, err);
}

int resctrl_leave (const struct plan *plan, bool made, struct error *err)
{
  return plan->intel_rdt == NULL ? 0 : call (plan, 0, &made, err);
}
