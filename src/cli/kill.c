/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>

#include "base/str.h"
#include "cli/command.h"
#include "container/container.h"
#include "spec/names.h"

struct kill_options
{
  bool all;
};

static const struct option_row rows[] = {
  { "all", 'a', OPTION_FLAG, offsetof (struct kill_options, all), NULL,
    "signal every process of the container" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int run_kill (const struct invocation *in, struct error *err)
{
  const struct kill_options *o = in->values;
  int signal = in->argc > 1 ? signal_number (in->argv[1]) : SIGTERM;
  char quoted[STR_QUOTE_MAX];
  if (signal < 0)
    return error_set (err, -EINVAL, "kill: %s is no signal", str_quote (in->argv[1], quoted));
  return container_kill (state_root_path (in->global), in->argv[0], signal, o->all, err);
}

const struct command command_kill = {
  .name = "kill",
  .arguments = "ID [SIGNAL]",
  .summary = "send a signal (TERM) to the container's first process",
  .options = rows,
  .values_size = sizeof (struct kill_options),
  .min_args = 1,
  .max_args = 2,
  .failure = 1,
  .run = run_kill,
};
