/* SPDX-License-Identifier: Apache-2.0 */
/* Owns rule exec.process: a process that joins a running container is judged by the rules for a
   container's own process, compared with that one, and held against `exec` in the policy file.
   Pure code.  */
#include <errno.h>

#include "policy/internal.h"

/* ---- the policy's lists ---- */

/* ITEM is JSON text out of `commands`: a program, or a whole command line.  NULL: neither.  */
static struct policy_command *read_command (const char *item, struct arena *arena)
{
  bool list = item[0] == '[';
  char *text = arena_printf (arena, "{\"%s\": %s}", list ? "argv" : "program", item);
  struct oci_report report = { 0 };
  struct policy_command *command = NULL;

  if (text == NULL
      || policy_command_parse (arena, text, __builtin_strlen (text), 0, &report, &command) < 0)
    return NULL;
  return command->argv_len > 0 || (command->program != NULL && command->program[0] != '\0')
             ? command
             : NULL;
}

bool policy_exec_command_valid (const char *item, struct arena *arena)
{
  return read_command (item, arena) != NULL;
}

bool policy_exec_user_valid (const char *item)
{
  uint64_t uid;

  return value_is_word (item, "same") || str_to_u64 (item, 0, UINT32_MAX - 1, &uid) == 0;
}

static bool command_matches (const struct policy_command *command, const struct oci_process *p)
{
  if (command->program != NULL)
    return p->args_len > 0 && str_equal (command->program, p->args[0]);
  if (command->argv_len != p->args_len)
    return false;
  for (size_t i = 0; i < p->args_len; i++)
    if (!str_equal (command->argv[i], p->args[i]))
      return false;
  return true;
}

/* ---- the checks ---- */

static void check_commands (struct evaluation *ev, const struct policy_exec *exec)
{
  const struct oci_process *p = ev->process;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < exec->commands_len; i++)
    {
      const struct policy_command *command = read_command (exec->commands[i], ev->arena);

      if (command != NULL && command_matches (command, p))
        return;
    }
  if (exec->commands_len == 0)
    return;
  ev_fix (ev,
          ev_report (ev, RULE_EXEC_PROCESS, ACTION_REJECT, ev_process (ev, "/args"),
                     "the policy does not list this command (%s) among those that may be started "
                     "in a running container",
                     str_quote (p->args_len > 0 ? p->args[0] : "", quoted)),
          "start one that is listed, or add it to exec.commands of the policy");
}

static bool user_is_listed (const struct policy_exec *exec, uint32_t uid)
{
  uint64_t listed;

  for (size_t i = 0; i < exec->users_len; i++)
    if (str_to_u64 (exec->users[i], 0, UINT32_MAX - 1, &listed) == 0 && listed == uid)
      return true;
  return false;
}

static bool has_group (const struct oci_user *user, uint32_t gid)
{
  for (size_t i = 0; i < user->additional_gids_len; i++)
    if (user->additional_gids[i] == gid)
      return true;
  return user->gid == gid;
}

/* After tightening: docker exec sends gid 0 and additional group 0 again, as docker run did.  */
static void check_exec_user (struct evaluation *ev, const struct policy_exec *exec)
{
  const struct oci_user *user = ev->process->user, *own = ev->container->user;
  struct finding *f = NULL;

  if (user_is_listed (exec, user->uid))
    return;
  if (user->uid != own->uid || user->gid != own->gid)
    f = ev_report (ev, RULE_EXEC_PROCESS, ACTION_REJECT, ev_process (ev, "/user"),
                   "the process would run as %u:%u, but the container runs as %u:%u", user->uid,
                   user->gid, own->uid, own->gid);
  ev_fix (ev, f,
          "leave --user out of the exec, or use --user %u:%u; another user has to be in exec.users "
          "of the policy",
          own->uid, own->gid);
  for (size_t i = 0; i < user->additional_gids_len; i++)
    if (!has_group (own, user->additional_gids[i]))
      ev_fix (ev,
              ev_report (ev, RULE_EXEC_PROCESS, ACTION_REJECT,
                         ev_process (ev, "/user/additionalGids"),
                         "the process would have the supplementary group %u, which the container "
                         "has not",
                         user->additional_gids[i]),
              "leave that group out");
}

void check_exec (struct evaluation *ev)
{
  const struct policy_exec *exec = ev->policy->effective->exec;

  if (exec->has_allow && !exec->allow)
    {
      ev_fix (ev,
              ev_report (ev, RULE_EXEC_PROCESS, ACTION_REJECT, "",
                         "the policy allows no process to be started in a running container"),
              "give the work to the container's own process, or set exec.allow in the policy");
      return;
    }
  check_commands (ev, exec);
  check_exec_user (ev, exec);
}
