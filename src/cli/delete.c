/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <regex.h>
#include <stddef.h>

#include "arena.h"
#include "base/str.h"
#include "cli/command.h"
#include "container/container.h"

struct delete_options
{
  bool force, regex;
};

static const struct option_row rows[] = {
  { "force", 'f', OPTION_FLAG, offsetof (struct delete_options, force), NULL,
    "kill it first; an unknown id is success" },
  { "regex", 0, OPTION_FLAG, offsetof (struct delete_options, regex), NULL,
    "ID is a regular expression (regex(7), extended): all that it matches" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* One that can't be deleted holds up none of the others; the first such failure is the one told. */
static int delete_matching (const char *root, const regex_t *expression, bool force,
                            struct arena *arena, struct error *err)
{
  struct container_entry *entries;
  size_t len;
  int first = 0, r = container_list (root, arena, &entries, &len, err);

  for (size_t i = 0; r == 0 && i < len; i++)
    {
      struct error failure = { 0 };
      int one = 0;
      if (regexec (expression, entries[i].id, 0, NULL, 0) == 0)
        one = container_delete (root, entries[i].id, force, &failure);
      if (one < 0 && first == 0)
        {
          first = one;
          *err = failure;
        }
    }
  return r < 0 ? r : first;
}

static int delete_by_expression (const char *root, const char *text, bool force, struct error *err)
{
  cleanup_arena struct arena *arena = arena_new ();
  char quoted[STR_QUOTE_MAX], why[128];
  regex_t expression;
  int r;

  if (arena == NULL)
    return error_set (err, -ENOMEM, "delete: out of memory");
  r = regcomp (&expression, text, REG_EXTENDED | REG_NOSUB);
  if (r != 0)
    {
      regerror (r, &expression, why, sizeof why);
      return error_set (err, -EINVAL, "delete: --regex %s: %s", str_quote (text, quoted), why);
    }
  r = delete_matching (root, &expression, force, arena, err);
  regfree (&expression);
  return r;
}

static int run_delete (const struct invocation *in, struct error *err)
{
  const struct delete_options *o = in->values;
  const char *root = state_root_path (in->global);

  if (o->regex)
    return delete_by_expression (root, in->argv[0], o->force, err);
  return container_delete (root, in->argv[0], o->force, err);
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
