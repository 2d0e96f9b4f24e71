/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "container/container.h"
#include "policy/policy.h"

static int run_start (const struct invocation *in, struct error *err)
{
  struct policy *policy = NULL;
  int r = policy_load (in->global->policy, in->global->program, true, &policy, err);
  if (r == 0)
    r = container_start (state_root_path (in->global), in->argv[0], policy_digest (policy), err);
  policy_free (policy);
  return r;
}

const struct command command_start = {
  .name = "start",
  .arguments = "ID",
  .summary = "start the process of a created container",
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_start,
};
