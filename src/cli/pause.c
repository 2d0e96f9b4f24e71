/* SPDX-License-Identifier: Apache-2.0 */
/* pause and resume.  */
#include "cli/command.h"
#include "container/container.h"

static int run_pause (const struct invocation *in, struct error *err)
{
  return container_pause (state_root_path (in->global), in->argv[0], err);
}

static int run_resume (const struct invocation *in, struct error *err)
{
  return container_resume (state_root_path (in->global), in->argv[0], err);
}

const struct command command_pause = {
  .name = "pause",
  .arguments = "ID",
  .summary = "freeze all processes of a container",
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_pause,
};

const struct command command_resume = {
  .name = "resume",
  .arguments = "ID",
  .summary = "let a paused container go on",
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_resume,
};
