/* SPDX-License-Identifier: Apache-2.0 */
/* events: what a container uses, as lines of JSON in the shape of runc's, and when the kernel kills
   in it for want of memory.  */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "cli/command.h"
#include "container/container.h"

#define INTERVAL_DEFAULT "5s"
#define INTERVAL_MAX_MS  (24 * 3600 * 1000LL)

struct events_options
{
  const char *interval;
  bool stats;
};

static const struct option_row rows[] = {
  { "interval", 0, OPTION_STRING, offsetof (struct events_options, interval), "TIME",
    "between two statistics, such as 500ms, 5s, 1m (5s)" },
  { "stats", 0, OPTION_FLAG, offsetof (struct events_options, stats), NULL,
    "the statistics of now, once" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* One number and one unit.  */
static int parse_interval (const char *text, int64_t *ret, struct error *err)
{
  static const struct
  {
    const char *unit;
    int64_t ms;
  } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
  char quoted[STR_QUOTE_MAX], *unit;
  long long number;

  errno = 0;
  number = isdigit ((unsigned char)text[0]) ? strtoll (text, &unit, 10) : 0;
  for (size_t i = 0; number > 0 && errno == 0 && i < ARRAY_SIZE (units); i++)
    if (str_equal (unit, units[i].unit) && number <= INTERVAL_MAX_MS / units[i].ms)
      {
        *ret = number * units[i].ms;
        return 0;
      }
  return error_set (err, -EINVAL, "events: --interval \"%s\" is no time such as 500ms, 5s or 1m",
                    str_quote (text, quoted));
}

/* Who reads a pipe wants each line when it is said.  */
static int say (const char *line, struct error *err)
{
  if (printf ("%s\n", line) < 0 || fflush (stdout) != 0)
    return error_errno (err, errno, "write an event");
  return 0;
}

static int run_events (const struct invocation *in, struct error *err)
{
  const struct events_options *o = in->values;
  struct events_request request = { .once = o->stats, .say = say };
  int r = parse_interval (o->interval != NULL ? o->interval : INTERVAL_DEFAULT,
                          &request.interval_ms, err);

  return r < 0 ? r : container_events (state_root_path (in->global), in->argv[0], &request, err);
}

const struct command command_events = {
  .name = "events",
  .arguments = "ID",
  .summary = "print what a container uses, and when memory runs out",
  .options = rows,
  .values_size = sizeof (struct events_options),
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_events,
};
