/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stages_exec.h"

#include <errno.h>

#include "base/str.h"
#include "plan/make.h"
#include "spec/validate.h"

/* What goes with --process: all else is in the file.  */
static int check_options (const struct exec_options *o, int argc, struct error *err)
{
  const struct
  {
    bool given;
    const char *name;
  } in_file[] = {
    { o->user != NULL, "--user" },
    { o->cwd != NULL, "--cwd" },
    { o->apparmor != NULL, "--apparmor" },
    { o->process_label != NULL, "--process-label" },
    { o->additional_gids.len > 0, "--additional-gids" },
    { o->env.len > 0, "--env" },
    { o->cap.len > 0, "--cap" },
    { o->no_new_privs, "--no-new-privs" },
  };
  if (o->process == NULL)
    return argc > 1 ? 0 : error_set (err, -EINVAL, "exec: no command to execute is given");
  if (argc > 1)
    return error_set (err, -EINVAL,
                      "exec: a command and --process are given: the file names the command");
  for (size_t i = 0; i < ARRAY_SIZE (in_file); i++)
    if (in_file[i].given)
      return error_set (err, -EINVAL, "exec: %s and --process are given: it belongs in the file",
                        in_file[i].name);
  return 0;
}

static int load (const struct global_options *global, const struct exec_options *o, int argc,
                 char **argv, struct judged_exec *e, struct error *err)
{
  e->arena = arena_new ();
  if (e->arena == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  e->findings.arena = e->arena;
  int r = container_id_check (argv[0], err);
  if (r == 0)
    r = check_options (o, argc, err);
  if (r == 0)
    r = stages_check_descriptors (global, o->preserve_fds, err);
  if (r == 0)
    r = policy_load (global->policy, global->program, true, &e->policy, err);
  /* Before the container is locked: whoever writes the file may take his time.  */
  if (r == 0 && o->process != NULL)
    r = exec_read_process (o, e, err);
  if (r == 0)
    r = container_open_shared (state_root_path (global), argv[0], &e->container, err);
  if (r == 0 && o->process == NULL)
    r = exec_make_process (o, argc, argv, e, err);
  return r;
}

static bool has_user_namespace (const struct plan *plan)
{
  for (size_t i = 0; i < plan->namespaces_len; i++)
    if (str_equal (plan->namespaces[i].type, "user"))
      return true;
  return false;
}

static int admit (const struct exec_options *o, struct judged_exec *e, struct error *err)
{
  const struct plan *plan = e->container.record->plan;
  struct policy_exec_request request = { .process = e->process,
                                         .user_namespace = has_user_namespace (plan),
                                         .preserve_fds = o->preserve_fds };
  struct oci_process *own;
  struct questions *questions;
  bool invalid = findings_reject (&e->findings), denied;
  int r = plan_recorded_process (plan, e->arena, &own, err);
  request.container = own;
  if (r == 0)
    r = policy_query_exec (e->policy, &request, e->arena, &questions, err);
  if (r == 0)
    r = spec_resolve (questions, e->arena, &e->resolved, err);
  if (r == 0)
    r = policy_admit_exec (e->policy, &request, e->resolved.facts, e->arena, &e->findings,
                           &e->admitted, &denied, err);
  if (r == 0 && e->findings.failed)
    r = error_set (err, -ENOMEM, "out of memory: no verdict could be reached");
  if (r == 0)
    e->denied = invalid || denied;
  return r;
}

int exec_judge (const struct global_options *global, const struct exec_options *o, int argc,
                char **argv, struct judged_exec *e, struct error *err)
{
  int r = load (global, o, argc, argv, e, err);
  if (r < 0)
    return r;
  e->denied = true;
  if (e->process == NULL)
    return 0;
  if (o->tty)
    SET_NUMBER (e->process, terminal, true);
  spec_validate_process (e->process, &e->findings);
  r = plan_harden_exec (e->container.record->plan, e->process, e->arena, err);
  return r < 0 ? r : admit (o, e, err);
}

void judged_exec_free (struct judged_exec *e)
{
  resolved_free (&e->resolved);
  container_close (&e->container);
  policy_free (e->policy);
  arena_free (e->arena);
}
