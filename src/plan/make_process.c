/* SPDX-License-Identifier: Apache-2.0 */
/* The process: identity, capabilities, limits, environment.  Pure code.  */
#include <errno.h>

#include "base/str.h"
#include "plan/make.h"
#include "spec/names.h"

/* runtime-spec gives no default; runc and crun use this one.  */
#define DEFAULT_UMASK 0022

/* Unknown names were warned about by validation and, by the specification, are left out.  */
static uint64_t capability_mask (char *const *names, size_t len)
{
  uint64_t mask = 0;
  for (size_t i = 0; i < len; i++)
    {
      int number = capability_number (names[i]);
      if (number >= 0)
        mask |= UINT64_C (1) << number;
    }
  return mask;
}

/* No `capabilities` means none: a process is never given what nobody wrote down.  */
static int make_capabilities (const struct oci_capabilities *caps, struct arena *arena,
                              struct plan_process *process)
{
  struct plan_capabilities *c = arena_alloc (arena, sizeof *c);
  static const struct oci_capabilities none;
  if (c == NULL)
    return -ENOMEM;
  if (caps == NULL)
    caps = &none;
  /* What can't be held is left out, as the specification wants it; validation has warned.  */
  const uint64_t permitted = capability_mask (caps->permitted, caps->permitted_len);
  SET_NUMBER (c, bounding, capability_mask (caps->bounding, caps->bounding_len));
  SET_NUMBER (c, effective, capability_mask (caps->effective, caps->effective_len) & permitted);
  SET_NUMBER (c, permitted, permitted);
  SET_NUMBER (c, inheritable, capability_mask (caps->inheritable, caps->inheritable_len));
  SET_NUMBER (c, ambient,
              capability_mask (caps->ambient, caps->ambient_len) & permitted & c->inheritable);
  process->capabilities = c;
  return 0;
}

static int make_rlimits (const struct oci_process *p, struct arena *arena,
                         struct plan_process *process)
{
  process->rlimits = arena_alloc (arena, (p->rlimits_len + 1) * sizeof *process->rlimits);
  if (process->rlimits == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < p->rlimits_len; i++)
    {
      struct plan_rlimit *limit = &process->rlimits[i];
      limit->name = p->rlimits[i].type;
      SET_NUMBER (limit, resource, rlimit_number (limit->name));
      SET_NUMBER (limit, soft, p->rlimits[i].soft);
      SET_NUMBER (limit, hard, p->rlimits[i].hard);
    }
  process->rlimits_len = p->rlimits_len;
  process->has_rlimits = p->rlimits_len > 0;
  return 0;
}

static void make_user (const struct oci_user *user, struct plan_process *process)
{
  static const struct oci_user root;
  if (user == NULL)
    user = &root;
  SET_NUMBER (process, uid, user->uid);
  SET_NUMBER (process, gid, user->gid);
  SET_NUMBER (process, umask, user->has_umask ? user->umask : DEFAULT_UMASK);
  process->has_groups = true;
  process->groups = user->additional_gids;
  process->groups_len = user->additional_gids_len;
}

static void make_terminal (const struct oci_process *p, struct plan_process *process)
{
  SET_NUMBER (process, terminal, p->has_terminal && p->terminal);
  if (p->console_size != NULL)
    {
      SET_NUMBER (process, height, (uint32_t)p->console_size->height);
      SET_NUMBER (process, width, (uint32_t)p->console_size->width);
    }
}

/* execve(2) wants a NULL behind the last argument, which the parser's array doesn't have.  */
static int make_args (const struct oci_process *p, struct arena *arena,
                      struct plan_process *process)
{
  char **args = arena_alloc_array (arena, p->args_len + 1, sizeof *args);
  if (args == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < p->args_len; i++)
    args[i] = p->args[i];
  process->has_args = true;
  process->args = args;
  process->args_len = p->args_len;
  return 0;
}

int plan_process_of (const struct oci_process *p, struct arena *arena, struct plan_process **ret,
                     struct error *err)
{
  struct plan_process *process = arena_alloc (arena, sizeof *process);
  if (process == NULL || make_capabilities (p->capabilities, arena, process) < 0
      || make_rlimits (p, arena, process) < 0 || make_args (p, arena, process) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning the process");
  make_user (p->user, process);
  make_terminal (p, process);
  process->has_env = true;
  process->env = p->env;
  process->env_len = p->env_len;
  process->cwd = p->cwd;
  SET_NUMBER (process, no_new_privileges, p->has_no_new_privileges && p->no_new_privileges);
  process->has_oom_score_adj = p->has_oom_score_adj;
  process->oom_score_adj = p->oom_score_adj;
  process->apparmor_profile = p->apparmor_profile;
  process->selinux_label = p->selinux_label;
  process->scheduler = p->scheduler;
  process->io_priority = p->io_priority;
  process->exec_cpu_affinity = p->exec_cpu_affinity;
  *ret = process;
  return 0;
}

int plan_make_process (const struct plan_input *in, struct arena *arena, struct plan *plan,
                       struct error *err)
{
  return plan_process_of (in->admission->config->process, arena, &plan->process, err);
}
