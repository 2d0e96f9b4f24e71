/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and their options as tables (cli.md).  A command file turns flags into stages and stages
   into output; it knows no system call.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct global_options
{
  const char *root; /* NULL: the default state root */
  const char *log;
  const char *log_format;
  const char *log_level;
  const char *cgroup_manager;
  const char *rootless;
  const char *policy;
  bool debug;
  bool systemd_cgroup;
  bool version;
  bool help;
  unsigned inherited_fds;  /* open without a gap from 3 up when the program began */
  bool own_user_namespace; /* that agentrun made for an ordinary user (rootless.h) */
  const char *program;     /* base name of argv[0]: chooses the policy file */
};

enum option_kind
{
  OPTION_FLAG,     /* bool */
  OPTION_STRING,   /* const char *: the last one wins */
  OPTION_UNSIGNED, /* unsigned, from 0 to 65535 */
  OPTION_LIST      /* struct option_list: all of them, in their order */
};

struct option_list
{
  const char **items;
  size_t len;
};

struct option_row
{
  const char *name; /* without dashes; NULL ends the table */
  char letter;      /* 0: no short form */
  enum option_kind kind;
  size_t offset; /* of the value in the command's struct of values */
  const char *argument;
  const char *help;
};

/* What a handler is given: its values as the options table filled them, and the positional
   arguments, whose number was checked.  */
struct invocation
{
  const struct global_options *global;
  const struct command *command;
  const void *values;
  int argc;
  char **argv;
};

struct command
{
  const char *name;
  const char *arguments; /* "ID [SIGNAL]" */
  const char *summary;
  const struct option_row *options;
  size_t values_size;
  int min_args, max_args; /* max -1: any number */
  bool enters_container;  /* the binary is protected before anything else happens */
  bool judges_bundle;     /* looks at mount sources: an ordinary user has to be where he may */
  int failure;            /* exit code of a failure: engines tell create (1) from exec (255) */
  /* Returns the exit code, or a negative errno with a message.  */
  int (*run) (const struct invocation *, struct error *err);
};

/* In the order in which help shows them; ends with a NULL name.  */
extern const struct command *const commands[];
const struct command *command_find (const char *name);

extern const struct option_row global_option_rows[];

/* Parses ARGV[1..] up to the first positional argument into VALUES and returns its index, or a
   negative errno with a message that names CONTEXT.  Takes --flag value, --flag=value, -f value;
   `--` ends the options.  */
int options_parse (const struct option_row *rows, const char *context, int argc, char **argv,
                   void *values, struct error *err);

/* Frees the lists in VALUES.  */
void options_free (const struct option_row *rows, void *values);

void help_print (void);
void help_print_command (const struct command *);
void version_print (void);

/* The state root that --root or the user's situation gives.  Static or from the arguments.  */
const char *state_root_path (const struct global_options *);

extern const struct command command_create, command_run, command_start, command_state, command_kill,
    command_delete, command_features, command_check, command_policy, command_list, command_ps,
    command_pause, command_resume, command_update, command_spec, command_events, command_exec,
    command_mounts;
