/* SPDX-License-Identifier: Apache-2.0 */
/* agentrun: global options, the command table, and the one place where a failure becomes a log line
   and an exit code.  */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/rootless.h"
#include "linux/binary.h"

static const char *base_name (const char *path)
{
  const char *slash = path ? strrchr (path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "agentrun";
}

static int open_log (const struct global_options *global, struct error *err)
{
  enum log_level level = LOG_LEVEL_ERROR; /* engines choke on more than one line (cli.md) */
  char quoted[STR_QUOTE_MAX];
  if (global->log_level != NULL && log_level_parse (global->log_level, &level) < 0)
    return error_set (err, -EINVAL, "--log-level is error, warning, info or debug, not %s",
                      str_quote (global->log_level, quoted));
  if (global->debug)
    level = LOG_LEVEL_DEBUG;
  return log_open (global->log, global->log_format, level, err);
}

static int check_word (const char *option, const char *word, const char *const *allowed,
                       struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  if (word == NULL)
    return 0;
  for (size_t i = 0; allowed[i] != NULL; i++)
    if (str_equal (word, allowed[i]))
      return 0;
  return error_set (err, -EINVAL, "--%s does not know %s", option, str_quote (word, quoted));
}

static int check_globals (const struct global_options *global, struct error *err)
{
  static const char *const managers[] = { "cgroupfs", "systemd", "disabled", NULL };
  static const char *const rootless[] = { "auto", "true", "false", NULL };
  int r = check_word ("cgroup-manager", global->cgroup_manager, managers, err);
  if (r == 0)
    r = check_word ("rootless", global->rootless, rootless, err);
  if (r == 0 && (global->systemd_cgroup || str_equal (global->cgroup_manager, "systemd")))
    r = error_set (err, -ENOTSUP,
                   "the systemd cgroup manager is not supported by this build: use cgroupfs");
  return r;
}

static int parse_and_run (const struct command *command, const struct global_options *global,
                          int argc, char **argv, void *values, struct error *err)
{
  int first = options_parse (command->options, command->name, argc, argv, values, err);
  if (first < 0)
    return first;
  int count = argc - first;
  if (count < command->min_args || (command->max_args >= 0 && count > command->max_args))
    return error_set (err, -EINVAL, "%s: expected %s, got %d argument%s", command->name,
                      command->arguments, count, count == 1 ? "" : "s");
  struct invocation invocation = { global, command, values, count, argv + first };
  return command->run (&invocation, err);
}

static int run_command (const struct command *command, const struct global_options *global,
                        int argc, char **argv, struct error *err)
{
  cleanup_free void *values = calloc (1, command->values_size + 1);
  bool wants_help = argc > 1 && (str_equal (argv[1], "--help") || str_equal (argv[1], "-h"));
  if (values == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  if (wants_help)
    {
      help_print_command (command);
      return 0;
    }
  int r = parse_and_run (command, global, argc, argv, values, err);
  options_free (command->options, values);
  return r;
}

/* Where the command creates no process, engines take what it says on its own streams for the reason
   of a failure (containerd: update, kill, pause); a container's stderr is not for that.  */
static void tell_failure (const struct global_options *global, const struct command *command,
                          const struct error *err)
{
  log_write (LOG_LEVEL_ERROR, "%s", err->message);
  if (global->log != NULL && command != NULL && !command->enters_container)
    fprintf (stderr, "%s\n", err->message);
}

static int dispatch (struct global_options *global, int argc, char **argv,
                     const struct command **ret_command, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int first = options_parse (global_option_rows, "agentrun", argc, argv, global, err);
  if (first < 0)
    return first;
  if (global->version)
    {
      version_print ();
      return 0;
    }
  if (global->help || first == argc)
    {
      help_print ();
      return global->help ? 0 : 1;
    }
  int r = open_log (global, err);
  if (r < 0)
    return r;
  const struct command *command = command_find (argv[first]);
  if (command == NULL)
    return error_set (err, -EINVAL, "unknown command %s (see agentrun --help)",
                      str_quote (argv[first], quoted));
  *ret_command = command;
  r = check_globals (global, err);
  if (r == 0 && command->judges_bundle)
    r = rootless_enter (&global->own_user_namespace, err);
  if (r == 0 && command->enters_container)
    r = binary_protect (argv, err);
  /* Nothing of the engine's descriptors may reach a container: all from 3 up are close-on-exec;
     --preserve-fds takes its own out again.  Not before binary_protect, which executes this program
     once more.  */
  if (r == 0)
    r = fd_cloexec_from (3, err);
  return r < 0 ? r : run_command (command, global, argc - first, argv + first, err);
}

/* The heap grows in one step for most commands, and a message of sync.h is no mapping of its own: a
   page that isn't written to costs nothing.  */
#define HEAP_STEP (1024 * 1024)

int main (int argc, char **argv)
{
  mallopt (M_TOP_PAD, HEAP_STEP);
  mallopt (M_MMAP_THRESHOLD, HEAP_STEP);
  struct error err = { 0 };
  struct global_options global = { .program = base_name (argc > 0 ? argv[0] : NULL) };
  const struct command *command = NULL;
  int r = fd_open_missing_stdio (&err);
  global.inherited_fds = fd_count_open (3); /* before there are any of our own */
  if (r == 0)
    r = dispatch (&global, argc, argv, &command, &err);
  if (r < 0)
    {
      tell_failure (&global, command, &err);
      r = command == NULL ? 1 : command->failure;
    }
  log_close ();
  return r;
}
