/* SPDX-License-Identifier: Apache-2.0 */
/* exec: load, parse, validate, query, resolve, admit (exec_judge), plan, execute.  */
#include <errno.h>

#include "cli/stages_exec.h"
#include "plan/make.h"

#define ROW(name, letter, kind, member, argument, help)                                            \
  {                                                                                                \
    name, letter, kind, offsetof (struct exec_options, member), argument, help                     \
  }

static const struct option_row rows[] = {
  ROW ("process", 'p', OPTION_STRING, process, "FILE", "the process, as in config.json"),
  ROW ("pid-file", 0, OPTION_STRING, pid_file, "FILE", "write the pid there"),
  ROW ("console-socket", 0, OPTION_STRING, console_socket, "SOCKET",
       "send the terminal's master to this socket"),
  ROW ("detach", 'd', OPTION_FLAG, detach, NULL, "return when the program runs"),
  ROW ("tty", 't', OPTION_FLAG, tty, NULL, "with a terminal"),
  ROW ("user", 'u', OPTION_STRING, user, "UID[:GID]", "numbers; the container's user"),
  ROW ("additional-gids", 'g', OPTION_LIST, additional_gids, "GID",
       "a further supplementary group (repeatable)"),
  ROW ("cwd", 0, OPTION_STRING, cwd, "DIR", "the working directory; the container's"),
  ROW ("env", 'e', OPTION_LIST, env, "NAME=VALUE", "adds to the environment (repeatable)"),
  ROW ("cap", 'c', OPTION_LIST, cap, "CAP_NAME",
       "adds to bounding, effective and permitted set (repeatable)"),
  ROW ("no-new-privs", 0, OPTION_FLAG, no_new_privs, NULL, "set no_new_privs"),
  ROW ("preserve-fds", 0, OPTION_UNSIGNED, preserve_fds, "N",
       "pass N descriptors from 3 up to the process"),
  ROW ("cgroup", 0, OPTION_STRING, cgroup, "PATH", "a group below the container's own"),
  ROW ("apparmor", 0, OPTION_STRING, apparmor, "PROFILE", "the AppArmor profile"),
  ROW ("process-label", 0, OPTION_STRING, process_label, "LABEL", "the SELinux label"),
  ROW ("ignore-paused", 0, OPTION_FLAG, ignore_paused, NULL,
       "in a paused container wait until it is resumed"),
  ROW ("pidfd-socket", 0, OPTION_STRING, pidfd_socket, "SOCKET",
       "send a descriptor of the process there (pidfd_open(2))"),
  ROW ("no-subreaper", 0, OPTION_FLAG, no_subreaper, NULL, "accepted"),
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int deny (const struct judged_exec *e, struct error *err)
{
  const char *line = policy_denial_line (e->policy, &e->findings, e->arena);
  return error_set (err, -EPERM, "%s", line ? line : "denied; out of memory for the reasons");
}

static int run_exec (const struct invocation *in, struct error *err)
{
  const struct exec_options *o = in->values;
  cleanup_judged_exec struct judged_exec e = JUDGED_EXEC_INIT;
  struct plan_process *process;
  int code;
  int r = exec_judge (in->global, o, in->argc, in->argv, &e, err);
  if (r == 0 && e.denied)
    r = deny (&e, err);
  if (r == 0)
    r = plan_process_of (e.admitted, e.arena, &process, err);
  if (r < 0)
    return r;
  const struct exec_request request = {
    .process = process,
    .pid_file = o->pid_file,
    .pidfd_socket = o->pidfd_socket,
    .console_socket = o->console_socket,
    .cgroup = o->cgroup,
    .preserve_fds = o->preserve_fds,
    .detach = o->detach,
    .ignore_paused = o->ignore_paused,
  };
  r = container_exec (&e.container, &request, &code, err);
  return r < 0 ? r : code;
}

const struct command command_exec = {
  .name = "exec",
  .arguments = "ID [COMMAND [ARGUMENT]...]",
  .summary = "start another process in a container; exits with its code",
  .options = rows,
  .values_size = sizeof (struct exec_options),
  .min_args = 1,
  .max_args = -1,
  .enters_container = true,
  .failure = 255,
  .run = run_exec,
};
