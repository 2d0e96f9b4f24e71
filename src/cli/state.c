/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "container/container.h"

static int run_state (const struct invocation *in, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  enum container_status status;
  int r = container_open (state_root_path (in->global), in->argv[0], false, &c, err);
  if (r == 0)
    r = container_status (&c, &status, err);
  if (r < 0)
    return r;
  cleanup_free char *json =
      container_state_json (c.record->plan, status == CONTAINER_STOPPED ? 0 : c.record->pid,
                            container_status_name (status));
  if (json == NULL)
    return error_set (err, -ENOMEM, "out of memory for the state");
  printf ("%s%s", json, json[strlen (json) - 1] == '\n' ? "" : "\n");
  return 0;
}

const struct command command_state = {
  .name = "state",
  .arguments = "ID",
  .summary = "print the state of a container as JSON",
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_state,
};
