/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "container/container.h"

struct delete_options
{
  bool force;
};

static const struct option_row rows[] = {
  { "force", 'f', OPTION_FLAG, offsetof (struct delete_options, force), NULL,
    "kill it first; an unknown id is success" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int run_delete (const struct invocation *in, struct error *err)
{
  const struct delete_options *o = in->values;
  return container_delete (state_root_path (in->global), in->argv[0], o->force, err);
}

const struct command command_delete = {
  .name = "delete",
  .arguments = "ID",
  .summary = "remove what is left of a stopped container",
  .options = rows,
  .values_size = sizeof (struct delete_options),
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_delete,
};
