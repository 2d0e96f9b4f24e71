/* SPDX-License-Identifier: Apache-2.0 */
/* The one option parser: getopt_long(3) driven by a command's table.  */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cli/command.h"

#define MAX_ROWS        64
#define MAX_UNSIGNED    65535
#define FIRST_LONG_ONLY 256 /* above any character */

struct getopt_tables
{
  struct option longs[MAX_ROWS + 1];
  char shorts[2 * MAX_ROWS + 3];
};

/* '+' stops at the first positional argument, so that what follows an id is not ours; ':' tells a
   missing argument from an unknown option.  */
static size_t make_tables (const struct option_row *rows, struct getopt_tables *tables)
{
  size_t n = 0;
  char *s = tables->shorts;
  memset (tables, 0, sizeof *tables);
  *s++ = '+';
  *s++ = ':';
  for (; rows != NULL && rows[n].name != NULL && n < MAX_ROWS; n++)
    {
      bool argument = rows[n].kind != OPTION_FLAG;
      tables->longs[n] = (struct option){ rows[n].name, argument ? required_argument : no_argument,
                                          NULL, FIRST_LONG_ONLY + (int)n };
      if (rows[n].letter != 0)
        {
          *s++ = rows[n].letter;
          if (argument)
            *s++ = ':';
        }
    }
  return n;
}

static const struct option_row *find_row (const struct option_row *rows, size_t n, int option)
{
  if (option >= FIRST_LONG_ONLY)
    return &rows[option - FIRST_LONG_ONLY];
  for (size_t i = 0; i < n; i++)
    if (rows[i].letter == option)
      return &rows[i];
  return NULL;
}

static int add (struct option_list *list, const char *context, struct error *err)
{
  const char **items = realloc (list->items, (list->len + 1) * sizeof *items);
  if (items == NULL)
    return error_set (err, -ENOMEM, "%s: out of memory for the options", context);
  items[list->len++] = optarg;
  list->items = items;
  return 0;
}

static int store (const struct option_row *row, const char *context, void *values,
                  struct error *err)
{
  char *at = (char *)values + row->offset;
  uint64_t number;
  char quoted[STR_QUOTE_MAX];
  switch (row->kind)
    {
    case OPTION_FLAG:
      *(bool *)(void *)at = true;
      return 0;
    case OPTION_STRING:
      *(const char **)(void *)at = optarg;
      return 0;
    case OPTION_UNSIGNED:
      if (str_to_u64 (optarg, 0, MAX_UNSIGNED, &number) < 0)
        return error_set (err, -EINVAL, "%s: --%s wants a number from 0 to %d, not %s", context,
                          row->name, MAX_UNSIGNED, str_quote (optarg, quoted));
      *(unsigned *)(void *)at = (unsigned)number;
      return 0;
    case OPTION_LIST:
      return add ((struct option_list *)(void *)at, context, err);
    }
  return error_set (err, -EINVAL, "%s: --%s has no kind", context, row->name);
}

/* getopt's own messages are off (opterr), so that a failure is one line in the log like any other.
 */
static int refuse (int why, const char *context, char **argv, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  const char *what = argv[optind - 1];
  if (why == ':')
    return error_set (err, -EINVAL, "%s: option %s wants a value", context,
                      str_quote (what, quoted));
  return error_set (err, -EINVAL, "%s: unknown option %s (see agentrun --help)", context,
                    str_quote (what, quoted));
}

int options_parse (const struct option_row *rows, const char *context, int argc, char **argv,
                   void *values, struct error *err)
{
  struct getopt_tables tables;
  size_t n = make_tables (rows, &tables);
  optind = 0; /* glibc: start anew, also after another table was used */
  opterr = 0;
  for (;;)
    {
      int option = getopt_long (argc, argv, tables.shorts, tables.longs, NULL);
      if (option == -1)
        return optind;
      const struct option_row *row =
          option == '?' || option == ':' ? NULL : find_row (rows, n, option);
      int r = row == NULL ? refuse (option, context, argv, err) : store (row, context, values, err);
      if (r < 0)
        return r;
    }
}

void options_free (const struct option_row *rows, void *values)
{
  for (; rows != NULL && rows->name != NULL; rows++)
    if (rows->kind == OPTION_LIST)
      {
        struct option_list *list = (void *)((char *)values + rows->offset);
        free (steal_ptr (&list->items));
        list->len = 0;
      }
}
