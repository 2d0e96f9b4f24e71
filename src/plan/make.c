/* SPDX-License-Identifier: Apache-2.0 */
/* The one place in which a plan comes together; the parts are in make_*.c.  Pure code.  */
#include "plan/make.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

/* The ids of the rules that tightened something, each once, in the order of the findings.  */
static int list_tightened (const struct findings *findings, struct arena *arena, struct plan *plan)
{
  if (findings == NULL || findings->len == 0)
    return 0;
  plan->tightened = arena_alloc (arena, findings->len * sizeof (char *));
  if (plan->tightened == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < findings->len; i++)
    {
      const struct finding *f = &findings->items[i];
      bool seen = !str_equal (f->action, "tighten") || !f->applied;
      for (size_t k = 0; !seen && k < plan->tightened_len; k++)
        seen = str_equal (plan->tightened[k], f->rule);
      if (!seen)
        plan->tightened[plan->tightened_len++] = f->rule;
    }
  plan->has_tightened = plan->tightened_len > 0;
  return 0;
}

static int make_identity (const struct plan_input *in, struct arena *arena, struct plan *plan)
{
  const struct oci_config *config = in->admission->config;
  plan->id = arena_strdup (arena, in->id);
  plan->bundle = in->bundle->path;
  plan->oci_version = config->oci_version;
  plan->config_digest = arena_strdup (arena, in->bundle->digest);
  plan->policy_name = arena_strdup (arena, policy_name (in->policy));
  plan->policy_digest = arena_strdup (arena, policy_digest (in->policy));
  plan->hostname = config->hostname;
  plan->domainname = config->domainname;
  plan->annotations = config->annotations;
  if (plan->id == NULL || plan->config_digest == NULL || plan->policy_name == NULL
      || plan->policy_digest == NULL)
    return -ENOMEM;
  return list_tightened (in->findings, arena, plan);
}

int plan_make (const struct plan_input *in, struct arena *arena, struct plan **ret,
               struct error *err)
{
  static int (*const parts[]) (const struct plan_input *, struct arena *, struct plan *,
                               struct error *) = { plan_make_mounts,  plan_make_process,
                                                   plan_make_linux,   plan_make_intel_rdt,
                                                   plan_make_devices, plan_make_hooks };
  struct plan *plan = arena_alloc (arena, sizeof *plan);
  if (plan == NULL || make_identity (in, arena, plan) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning");
  for (size_t i = 0; i < ARRAY_SIZE (parts); i++)
    {
      int r = parts[i](in, arena, plan, err);
      if (r < 0)
        return r;
    }
  *ret = plan;
  return 0;
}

/* "NAME=value" -> "NAME".  */
static char *environment_name (struct arena *arena, const char *entry)
{
  return arena_strndup (arena, entry, strcspn (entry, "="));
}

static int hooks_without_environment (struct plan_hook *hooks, size_t len, struct arena *arena)
{
  for (size_t i = 0; i < len; i++)
    for (size_t k = 0; k < hooks[i].env_len; k++)
      if ((hooks[i].env[k] = environment_name (arena, hooks[i].env[k])) == NULL)
        return -ENOMEM;
  return 0;
}

struct plan *plan_without_environment (const struct plan *plan, struct arena *arena)
{
  struct plan *copy = oci_clone (&plan_type, arena, plan);
  if (copy == NULL)
    return NULL;
  for (size_t i = 0; copy->process != NULL && i < copy->process->env_len; i++)
    if ((copy->process->env[i] = environment_name (arena, copy->process->env[i])) == NULL)
      return NULL;
  struct plan_hooks *h = copy->hooks;
  /* poststop hooks run from the record, in another process, and need their environment: it is the
     operator's, given in the hook, and the state directory is root's alone.  */
  if (h != NULL
      && (hooks_without_environment (h->prestart, h->prestart_len, arena) < 0
          || hooks_without_environment (h->create_runtime, h->create_runtime_len, arena) < 0
          || hooks_without_environment (h->create_container, h->create_container_len, arena) < 0
          || hooks_without_environment (h->start_container, h->start_container_len, arena) < 0))
    return NULL;
  return copy;
}
