/* SPDX-License-Identifier: Apache-2.0 */
/* run: create, start, wait and delete in one, in the foreground.  */
#include "cli/create_options.h"

static const struct option_row rows[] = {
  CREATE_OPTION_ROWS,
  CREATE_OPTION ("detach", 'd', OPTION_FLAG, detach, NULL, "return when the process runs"),
  CREATE_OPTION ("keep", 0, OPTION_FLAG, keep, NULL, "do not delete the container at its end"),
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int run_run (const struct invocation *in, struct error *err)
{
  cleanup_judged struct judged judged = JUDGED_INIT;
  struct create_request request;
  int code;
  int r = create_prepare (in, &judged, &request, err);
  if (r == 0)
    r = container_run (&request, &code, err);
  return r < 0 ? r : code;
}

const struct command command_run = {
  .name = "run",
  .arguments = "ID",
  .summary = "create, start, wait for the end, delete; exits with the container's code",
  .options = rows,
  .values_size = sizeof (struct create_options),
  .min_args = 1,
  .max_args = 1,
  .enters_container = true,
  .judges_bundle = true,
  .failure = 1,
  .run = run_run,
};
