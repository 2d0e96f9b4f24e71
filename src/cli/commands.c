/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and what help says of it.  */
#include <stdio.h>

#include "base/str.h"
#include "cli/command.h"

const struct command *const commands[] = {
  &command_create, &command_start,  &command_state, &command_kill,
  &command_delete, &command_events, &command_exec,  &command_mounts,
  &command_run,    &command_list,   &command_ps,    &command_pause,
  &command_resume, &command_update, &command_spec,  &command_features,
  &command_check,  &command_policy, NULL,
};

const struct command *command_find (const char *name)
{
  for (size_t i = 0; commands[i] != NULL; i++)
    if (str_equal (commands[i]->name, name))
      return commands[i];
  return NULL;
}

#define GLOBAL(name, letter, kind, member, argument, help)                                         \
  {                                                                                                \
    name, letter, kind, offsetof (struct global_options, member), argument, help                   \
  }

const struct option_row global_option_rows[] = {
  GLOBAL ("root", 0, OPTION_STRING, root, "DIR", "directory of the containers' state"),
  GLOBAL ("log", 0, OPTION_STRING, log, "DEST",
          "log to PATH, file:PATH, journald:ID or syslog:ID (standard error)"),
  GLOBAL ("log-format", 0, OPTION_STRING, log_format, "FORMAT", "text or json"),
  GLOBAL ("log-level", 0, OPTION_STRING, log_level, "LEVEL", "error, warning, info or debug"),
  GLOBAL ("debug", 0, OPTION_FLAG, debug, NULL, "same as --log-level debug"),
  GLOBAL ("systemd-cgroup", 0, OPTION_FLAG, systemd_cgroup, NULL, "let systemd manage the cgroup"),
  GLOBAL ("cgroup-manager", 0, OPTION_STRING, cgroup_manager, "NAME",
          "cgroupfs, systemd or disabled"),
  GLOBAL ("rootless", 0, OPTION_STRING, rootless, "WHEN", "auto, true or false (accepted)"),
  GLOBAL ("policy", 0, OPTION_STRING, policy, "POLICY",
          "a policy file, or builtin:default, builtin:strict, builtin:permissive"),
  GLOBAL ("version", 'v', OPTION_FLAG, version, NULL, "print the version"),
  GLOBAL ("help", 'h', OPTION_FLAG, help, NULL, "print this help"),
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void print_rows (const struct option_row *rows)
{
  for (; rows != NULL && rows->name != NULL; rows++)
    {
      char left[64];
      snprintf (left, sizeof left, "%c%c%s --%s%s%s", rows->letter ? '-' : ' ',
                rows->letter ? rows->letter : ' ', rows->letter ? "," : " ", rows->name,
                rows->argument ? " " : "", rows->argument ? rows->argument : "");
      printf ("  %-32s %s\n", left, rows->help);
    }
}

void help_print (void)
{
  printf ("Usage: agentrun [GLOBAL OPTION]... COMMAND [OPTION]... [ARGUMENT]...\n\n"
          "An OCI container runtime that starts nothing that would not hold an AI agent.\n\n"
          "Commands:\n");
  for (size_t i = 0; commands[i] != NULL; i++)
    printf ("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  printf ("\nGlobal options:\n");
  print_rows (global_option_rows);
  printf (
      "\n`agentrun COMMAND --help` tells a command's own options; agentrun(8) tells the rest.\n");
}

void help_print_command (const struct command *command)
{
  printf ("Usage: agentrun [GLOBAL OPTION]... %s [OPTION]... %s\n\n%s\n", command->name,
          command->arguments, command->summary);
  if (command->options != NULL)
    {
      printf ("\nOptions:\n");
      print_rows (command->options);
    }
}
