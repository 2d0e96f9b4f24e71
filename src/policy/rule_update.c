/* SPDX-License-Identifier: Apache-2.0 */
/* Owns rule update.limit: what an update may change, judged against the record of what was
   admitted. An update can't be tightened into sense as a configuration can (its absent fields mean
   "as it is"), so what goes too far is refused; but swap follows memory as it does at create.  Pure
   code.  */
#include <errno.h>
#include <string.h>

#include "policy/internal.h"

#define AT         "/linux/resources"
#define CPU_PERIOD 100000  /* microseconds; the kernel's own default */
#define PERIOD_MAX 1000000 /* the kernel's own limit */

struct update
{
  struct evaluation ev;
  struct oci_resources *change, *result;
};

/* ---- what is asked for ---- */

struct zero_member
{
  size_t has, value, size;
};

#define ZERO(type, member)                                                                         \
  {                                                                                                \
    offsetof (struct type, has_##member), offsetof (struct type, member),                          \
        sizeof (((struct type *)NULL)->member)                                                     \
  }

/* Go's zero values, which engines send for what they don't want to change.  Swappiness, burst and
   idle are not among them: there 0 is what one asks for.  */
static const struct zero_member memory_zeros[] = {
  ZERO (oci_memory, limit),  ZERO (oci_memory, reservation), ZERO (oci_memory, swap),
  ZERO (oci_memory, kernel), ZERO (oci_memory, kernel_tcp),  ZERO (oci_memory, disable_oom_killer),
};
static const struct zero_member cpu_zeros[] = {
  ZERO (oci_cpu, shares),           ZERO (oci_cpu, quota),           ZERO (oci_cpu, period),
  ZERO (oci_cpu, realtime_runtime), ZERO (oci_cpu, realtime_period),
};
static const struct zero_member pids_zeros[] = { ZERO (oci_pids, limit) };
static const struct zero_member block_io_zeros[] = { ZERO (oci_block_io, weight),
                                                     ZERO (oci_block_io, leaf_weight) };

static void drop_zeros (void *object, const struct zero_member *members, size_t len)
{
  static const char zero[8];
  char *base = object;

  for (size_t i = 0; base != NULL && i < len; i++)
    if (memcmp (base + members[i].value, zero, members[i].size) == 0)
      *(bool *)(void *)(base + members[i].has) = false;
}

/* An empty cpuset is none asked for, too.  */
static char *list_or_null (char *list) { return list != NULL && list[0] == '\0' ? NULL : list; }

static void drop_unchanged (struct oci_resources *r)
{
  drop_zeros (r->memory, memory_zeros, ARRAY_SIZE (memory_zeros));
  drop_zeros (r->cpu, cpu_zeros, ARRAY_SIZE (cpu_zeros));
  drop_zeros (r->pids, pids_zeros, ARRAY_SIZE (pids_zeros));
  drop_zeros (r->block_io, block_io_zeros, ARRAY_SIZE (block_io_zeros));
  if (r->cpu != NULL)
    {
      r->cpu->cpus = list_or_null (r->cpu->cpus);
      r->cpu->mems = list_or_null (r->cpu->mems);
    }
  /* The device filter stays as it was admitted.  */
  r->has_devices = false;
  r->devices = NULL;
  r->devices_len = 0;
}

/* CHANGE and RESULT from what holds and what is asked for.  */
static int prepare (struct update *u, const struct oci_resources *current,
                    const struct oci_resources *asked)
{
  static const struct oci_resources none = { 0 };
  struct oci_memory *change;

  u->change = oci_clone (&oci_resources_type, u->ev.arena, asked);
  if (u->change == NULL)
    return -ENOMEM;
  drop_unchanged (u->change);
  u->result =
      oci_merge (&oci_resources_type, u->ev.arena, current == NULL ? &none : current, u->change);
  if (u->result == NULL)
    return -ENOMEM;
  /* cgroup v2 counts swap alone: it can't be told without the memory limit that holds.  */
  change = u->change->memory;
  if (change != NULL && change->has_swap && !change->has_limit && u->result->memory->has_limit)
    {
      change->has_limit = true;
      change->limit = u->result->memory->limit;
    }
  return 0;
}

/* ---- judgement ---- */

/* As much as the rule for the same limit at create weighs: what may be unlimited there may be so
   here.  */
static enum action weight (const struct update *u, enum rule_id rule)
{
  return rule_action (u->ev.policy, rule, ACTION_REJECT);
}

static void check_swap (struct update *u)
{
  struct oci_memory *result = u->result->memory, *change = u->change->memory;
  struct evaluation *ev = &u->ev;
  struct tightening t = {
    .rule = RULE_LIMIT_MEMORY,
    .pointer = AT "/memory/swap",
    .old = change->has_swap ? ev_printf (ev, "%lld", (long long)change->swap) : "null",
    .new = ev_printf (ev, "%lld", (long long)result->limit),
    .fix = "give --memory-swap the value of --memory",
  };

  if (!result->has_limit || result->limit <= 0
      || (result->has_swap && result->swap == result->limit))
    return;
  if (!ev_tighten (ev, &t, "swap would go beyond the memory limit, or hold it down"))
    return;
  result->has_swap = change->has_swap = change->has_limit = true;
  result->swap = change->swap = change->limit = result->limit;
}

static void check_memory (struct update *u)
{
  const struct oci_memory *m = u->change->memory;
  uint64_t max = u->ev.policy->values.memory.max;
  enum action action = weight (u, RULE_LIMIT_MEMORY);
  struct finding *f = NULL;

  if (m == NULL)
    return;
  if (m->has_limit && m->limit < 0)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/memory/limit",
                   "the memory limit would be lifted");
  else if (m->has_limit && (uint64_t)m->limit > max)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/memory/limit",
                   "a memory limit of %lld bytes is above the policy's maximum of %llu",
                   (long long)m->limit, (unsigned long long)max);
  ev_fix (&u->ev, f, "set --memory within the policy's limits.memory.max");
  if (m->has_disable_oom_killer)
    ev_fix (&u->ev,
            ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/memory/disableOOMKiller",
                       "the OOM killer would be off: a full group would hang instead"),
            "leave disableOOMKiller out");
  if (m->has_limit || m->has_swap)
    check_swap (u);
}

static void check_pids (struct update *u)
{
  const struct oci_pids *p = u->change->pids;
  uint64_t max = u->ev.policy->values.pids.max;
  enum action action = weight (u, RULE_LIMIT_PIDS);
  struct finding *f = NULL;

  if (p == NULL || !p->has_limit)
    return;
  if (p->limit < 0)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/pids/limit",
                   "the limit on the number of processes would be lifted");
  else if ((uint64_t)p->limit > max)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/pids/limit",
                   "a limit of %lld processes is above the policy's maximum of %llu",
                   (long long)p->limit, (unsigned long long)max);
  ev_fix (&u->ev, f, "set --pids-limit within the policy's limits.pids.max");
}

/* A new period changes what the old quota is worth, so the result is judged.  */
static void check_quota (struct update *u, enum action action)
{
  const struct oci_cpu *c = u->result->cpu;
  uint64_t max = u->ev.policy->values.cpu.max;
  uint64_t period = c->has_period && c->period > 0 ? c->period : CPU_PERIOD;
  struct finding *f = NULL;

  if (period > PERIOD_MAX)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/cpu/period",
                   "a period of more than a second");
  else if (c->has_quota && c->quota < 0)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/cpu/quota",
                   "the limit on processor time would be lifted");
  else if (c->has_quota && (uint64_t)c->quota > period * max / 1000)
    f = ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/cpu/quota",
                   "%lld us of processor time in %llu us are above the policy's maximum of "
                   "%llu.%03llu processors",
                   (long long)c->quota, (unsigned long long)period,
                   (unsigned long long)(max / 1000), (unsigned long long)(max % 1000));
  ev_fix (&u->ev, f, "set --cpus within the policy's limits.cpu.max");
}

static void check_cpu (struct update *u)
{
  const struct oci_cpu *c = u->change->cpu;
  enum action action = weight (u, RULE_LIMIT_CPU);

  if (c == NULL)
    return;
  if (c->has_quota || c->has_period)
    check_quota (u, action);
  if (c->has_realtime_runtime || c->has_realtime_period)
    ev_fix (&u->ev,
            ev_report (&u->ev, RULE_UPDATE_LIMIT, action, AT "/cpu/realtimeRuntime",
                       "real-time processor time is asked for"),
            "remove --cpu-rt-runtime and --cpu-rt-period");
}

static void check_unified (struct update *u)
{
  const struct oci_map *unified = &u->change->unified;
  struct evaluation *ev = &u->ev;
  char key[STR_QUOTE_MAX], value[STR_QUOTE_MAX];

  for (size_t i = 0; i < unified->len; i++)
    {
      char *member = pointer_escape (ev->arena, unified->keys[i]);

      if (unified_is_limit (&ev->policy->values, unified->keys[i], unified->values[i]))
        continue;
      ev_fix (ev,
              ev_report (ev, RULE_UPDATE_LIMIT, weight (u, RULE_LIMIT_UNIFIED),
                         ev_printf (ev, AT "/unified/%s", member == NULL ? "" : member),
                         "the raw cgroup setting %s = %s is not a limit within the policy",
                         str_quote (unified->keys[i], key), str_quote (unified->values[i], value)),
              "remove it, use --memory, --pids-limit and --cpus");
    }
}

/* Kubernetes sends a deny-all with every update.  It changes nothing, nor does a default device. */
static void check_devices_asked (struct update *u, const struct oci_resources *asked)
{
  for (size_t i = 0; i < asked->devices_len; i++)
    {
      const struct oci_device_cgroup *d = &asked->devices[i];

      if (!d->has_allow || !d->allow
          || device_is_default (d->type, d->has_major ? d->major : -1,
                                d->has_minor ? d->minor : -1))
        continue;
      ev_fix (&u->ev,
              ev_report (&u->ev, RULE_UPDATE_LIMIT, weight (u, RULE_DEVICE_CGROUP),
                         ev_printf (&u->ev, AT "/devices/%zu", i),
                         "a device beyond the default ones would be allowed"),
              "remove it: the devices of a running container can't be changed");
    }
}

int policy_admit_update (const struct policy *policy, const struct oci_resources *current,
                         const struct oci_resources *asked, struct arena *arena,
                         struct findings *findings, struct update_admission *ret, struct error *err)
{
  struct update u = { .ev = {
                          .policy = policy,
                          .arena = arena,
                          .findings = findings,
                          .process_pointer = "",
                      } };
  int r = prepare (&u, current, asked);

  if (r == 0)
    {
      ev_weigh_unknown (&u.ev);
      u.ev.first = findings->len;
      check_memory (&u);
      check_pids (&u);
      check_cpu (&u);
      check_unified (&u);
      check_devices_asked (&u, asked);
    }
  if (r < 0 || findings->failed)
    return error_set (err, -ENOMEM, "judge the update: out of memory");
  *ret = (struct update_admission){ .change = u.change,
                                    .result = u.result,
                                    .denied = ev_is_denied (&u.ev) };
  return 0;
}

bool policy_admit_rdt_update (const struct policy *policy, struct findings *findings)
{
  if (policy->audit
      || rule_action (policy, RULE_SCHEDULING_SPECIAL, ACTION_REJECT) != ACTION_REJECT)
    return true;
  finding_add (findings, rules[RULE_SCHEDULING_SPECIAL].id, action_name (ACTION_REJECT),
               "/linux/intelRdt", "caches and memory bandwidth are shared with the host");
  return false;
}
