/* SPDX-License-Identifier: Apache-2.0 */
/* A process that joins a container: what the recorded plan says of the container's own process, as
   configuration again, and what of it holds for the other one.  Pure code.  */
#include <errno.h>

#include "base/str.h"
#include "plan/make.h"
#include "spec/names.h"

/* ---- the recorded process as configuration ---- */

static char **capability_names_of (uint64_t mask, struct arena *arena, size_t *ret_len)
{
  char **names = arena_alloc_array (arena, (size_t)capability_last () + 1, sizeof *names);
  size_t len = 0;
  for (int number = 0; names != NULL && number <= capability_last (); number++)
    if ((mask & (UINT64_C (1) << number)) != 0)
      names[len++] = (char *)capability_name (number);
  *ret_len = len;
  return names;
}

static int read_capabilities (const struct plan_capabilities *c, struct arena *arena,
                              struct oci_process *process)
{
  struct oci_capabilities *out = arena_alloc (arena, sizeof *out);
  if (out == NULL || c == NULL)
    return out == NULL ? -ENOMEM : 0;
  const struct
  {
    uint64_t mask;
    bool *has;
    char ***names;
    size_t *len;
  } sets[] = {
    { c->bounding, &out->has_bounding, &out->bounding, &out->bounding_len },
    { c->effective, &out->has_effective, &out->effective, &out->effective_len },
    { c->permitted, &out->has_permitted, &out->permitted, &out->permitted_len },
    { c->inheritable, &out->has_inheritable, &out->inheritable, &out->inheritable_len },
    { c->ambient, &out->has_ambient, &out->ambient, &out->ambient_len },
  };
  for (size_t i = 0; i < ARRAY_SIZE (sets); i++)
    {
      *sets[i].has = true;
      *sets[i].names = capability_names_of (sets[i].mask, arena, sets[i].len);
      if (*sets[i].names == NULL)
        return -ENOMEM;
    }
  process->capabilities = out;
  return 0;
}

static int read_user (const struct plan_process *p, struct arena *arena,
                      struct oci_process *process)
{
  struct oci_user *user = arena_alloc (arena, sizeof *user);
  if (user == NULL)
    return -ENOMEM;
  SET_NUMBER (user, uid, p->uid);
  SET_NUMBER (user, gid, p->gid);
  SET_NUMBER (user, umask, p->umask);
  user->has_additional_gids = true;
  user->additional_gids = p->groups;
  user->additional_gids_len = p->groups_len;
  process->user = user;
  return 0;
}

int plan_recorded_process (const struct plan *plan, struct arena *arena, struct oci_process **ret,
                           struct error *err)
{
  const struct plan_process *p = plan->process;
  struct oci_process *process = arena_alloc (arena, sizeof *process);
  if (process == NULL || read_user (p, arena, process) < 0
      || read_capabilities (p->capabilities, arena, process) < 0)
    return error_set (err, -ENOMEM, "out of memory for the process");
  process->cwd = p->cwd;
  SET_NUMBER (process, no_new_privileges, p->no_new_privileges);
  process->apparmor_profile = p->apparmor_profile;
  process->selinux_label = p->selinux_label;
  process->scheduler = p->scheduler;
  process->io_priority = p->io_priority;
  process->exec_cpu_affinity = p->exec_cpu_affinity;
  *ret = process;
  return 0;
}

/* ---- what holds for every process of the container ---- */

static bool is_given (const char *text) { return text != NULL && text[0] != '\0'; }

static void lower (uint64_t *value, uint64_t max)
{
  if (*value > max)
    *value = max;
}

/* The container's limits, and of those that the process has as well the lower ones.  */
static int merge_rlimits (const struct plan_process *own, struct oci_process *process,
                          struct arena *arena)
{
  size_t len = process->rlimits_len;
  struct oci_rlimit *list = arena_alloc_array (arena, len + own->rlimits_len + 1, sizeof *list);
  if (list == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < len; i++)
    list[i] = process->rlimits[i];
  for (size_t i = 0; i < own->rlimits_len; i++)
    {
      const struct plan_rlimit *limit = &own->rlimits[i];
      size_t at = 0;
      while (at < len && !str_equal (list[at].type, limit->name))
        at++;
      if (at == len)
        {
          list[len].type = limit->name;
          SET_NUMBER (&list[len], soft, limit->soft);
          SET_NUMBER (&list[len], hard, limit->hard);
          len++;
        }
      lower (&list[at].hard, limit->hard);
      lower (&list[at].soft, list[at].hard);
    }
  process->rlimits = list;
  process->rlimits_len = len;
  process->has_rlimits = len > 0;
  return 0;
}

int plan_harden_exec (const struct plan *plan, struct oci_process *process, struct arena *arena,
                      struct error *err)
{
  const struct plan_process *own = plan->process;
  if (own->no_new_privileges)
    SET_NUMBER (process, no_new_privileges, true);
  if (own->has_oom_score_adj
      && (!process->has_oom_score_adj || process->oom_score_adj < own->oom_score_adj))
    SET_NUMBER (process, oom_score_adj, own->oom_score_adj);
  if (!is_given (process->apparmor_profile))
    process->apparmor_profile = own->apparmor_profile;
  if (!is_given (process->selinux_label))
    process->selinux_label = own->selinux_label;
  if (merge_rlimits (own, process, arena) < 0)
    return error_set (err, -ENOMEM, "out of memory for the process");
  return 0;
}
