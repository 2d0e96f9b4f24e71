/* SPDX-License-Identifier: Apache-2.0 */
/* ps: the processes of a container, with the host's ids (docker top).  */
#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/command.h"
#include "container/container.h"

struct ps_options
{
  const char *format;
};

static const struct option_row rows[] = {
  { "format", 'f', OPTION_STRING, offsetof (struct ps_options, format), "FORMAT", "table or json" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void show_json (const struct container_process *list, size_t len)
{
  putchar ('[');
  for (size_t i = 0; i < len; i++)
    printf ("%s%d", i > 0 ? "," : "", list[i].pid);
  printf ("]\n");
}

/* A command line is what the workload says it is: nothing in it may reach a terminal as it is.  */
static void show_table (const struct container_process *list, size_t len)
{
  char quoted[STR_QUOTE_MAX];

  printf ("%-10s %s\n", "PID", "COMMAND");
  for (size_t i = 0; i < len; i++)
    printf ("%-10d %s\n", list[i].pid, str_quote (list[i].command, quoted));
}

static int run_ps (const struct invocation *in, struct error *err)
{
  const struct ps_options *o = in->values;
  cleanup_arena struct arena *arena = arena_new ();
  struct container_process *list;
  size_t len;
  bool json = str_equal (o->format, "json");
  char quoted[STR_QUOTE_MAX];
  int r;

  if (o->format != NULL && !json && !str_equal (o->format, "table"))
    return error_set (err, -EINVAL, "ps: --format is table or json, not %s",
                      str_quote (o->format, quoted));
  if (arena == NULL)
    return error_set (err, -ENOMEM, "out of memory for the list of processes");
  r = container_processes (state_root_path (in->global), in->argv[0], arena, &list, &len, err);
  if (r < 0)
    return r;
  if (json)
    show_json (list, len);
  else
    show_table (list, len);
  return 0;
}

const struct command command_ps = {
  .name = "ps",
  .arguments = "ID",
  .summary = "list the processes of a container",
  .options = rows,
  .values_size = sizeof (struct ps_options),
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_ps,
};
