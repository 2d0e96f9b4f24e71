/* SPDX-License-Identifier: Apache-2.0 */
/* Rules limit.memory, limit.pids, limit.cpu, limit.unified and limit.tmpfs: what is not limited
   gets the policy's default, what asks for more than its maximum is refused.  Pure code.  */
#include <string.h>

#include "policy/internal.h"
#include "spec/resources.h"

#define CPU_PERIOD 100000 /* microseconds; the kernel's own default */

static struct oci_resources *resources_of (struct evaluation *ev)
{
  struct oci_linux *linux = ev->config->linux;

  if (linux->resources == NULL)
    linux->resources = ev_alloc (ev, 1, sizeof *linux->resources);
  return linux->resources;
}

/* ---- limit.memory ---- */

#define MEMORY "/linux/resources/memory"

static void set_memory (struct evaluation *ev, struct oci_memory *memory)
{
  uint64_t bytes = ev->policy->values.memory.standard;
  struct tightening t = {
    .rule = RULE_LIMIT_MEMORY,
    .pointer = MEMORY "/limit",
    .old = memory->has_limit ? "0" : "null",
    .new = ev_printf (ev, "%llu", (unsigned long long)bytes),
    .fix = "add -m 512m (Kubernetes: resources.limits.memory)",
  };

  if (ev_tighten (ev, &t, "memory is not limited"))
    {
      memory->has_limit = true;
      memory->limit = (int64_t)bytes;
    }
}

/* Swap counts together with memory in the configuration (config-linux.md, Memory).  */
static void set_swap (struct evaluation *ev, struct oci_memory *memory)
{
  struct tightening t = {
    .rule = RULE_LIMIT_MEMORY,
    .pointer = MEMORY "/swap",
    .old = memory->has_swap ? ev_printf (ev, "%lld", (long long)memory->swap) : "null",
    .new = ev_printf (ev, "%lld", (long long)memory->limit),
    .fix = "add --memory-swap with the value of -m",
  };

  if (!memory->has_limit || memory->limit <= 0
      || (memory->has_swap && memory->swap == memory->limit))
    return;
  if (ev_tighten (ev, &t, "swap goes beyond the memory limit"))
    {
      memory->has_swap = true;
      memory->swap = memory->limit;
    }
}

static void keep_oom_killer (struct evaluation *ev, struct oci_memory *memory)
{
  struct tightening t = {
    .rule = RULE_LIMIT_MEMORY,
    .pointer = MEMORY "/disableOOMKiller",
    .old = "true",
    .new = "false",
    .fix = "remove --oom-kill-disable",
  };

  if (memory->has_disable_oom_killer && memory->disable_oom_killer
      && ev_tighten (ev, &t, "the OOM killer is off: a full group would hang instead"))
    memory->disable_oom_killer = false;
}

static void check_memory (struct evaluation *ev, struct oci_resources *resources)
{
  const struct limit_range *range = &ev->policy->values.memory;
  struct oci_memory *memory = resources->memory;
  struct finding *f = NULL;

  if (memory == NULL)
    memory = ev_alloc (ev, 1, sizeof *memory);
  if (memory == NULL)
    return;
  resources->memory = memory;
  if (!memory->has_limit || memory->limit == 0)
    set_memory (ev, memory);
  else if (memory->limit < 0)
    f = ev_report (ev, RULE_LIMIT_MEMORY, ACTION_REJECT, MEMORY "/limit",
                   "memory without a limit is asked for");
  else if ((uint64_t)memory->limit > range->max)
    f = ev_report (ev, RULE_LIMIT_MEMORY, ACTION_REJECT, MEMORY "/limit",
                   "a memory limit of %lld bytes is above the policy's maximum of %llu",
                   (long long)memory->limit, (unsigned long long)range->max);
  ev_fix (ev, f, "set -m within the policy's limits.memory.max");
  set_swap (ev, memory);
  keep_oom_killer (ev, memory);
}

/* ---- limit.pids ---- */

static void check_pids (struct evaluation *ev, struct oci_resources *resources)
{
  const struct limit_range *range = &ev->policy->values.pids;
  struct oci_pids *pids = resources->pids;
  bool set = pids != NULL && pids->has_limit && pids->limit > 0;
  struct tightening t = {
    .rule = RULE_LIMIT_PIDS,
    .pointer = "/linux/resources/pids/limit",
    .old =
        pids != NULL && pids->has_limit ? ev_printf (ev, "%lld", (long long)pids->limit) : "null",
    .new = ev_printf (ev, "%llu", (unsigned long long)range->standard),
    .fix = "add --pids-limit 100",
  };

  if (set && (uint64_t)pids->limit > range->max)
    ev_fix (ev,
            ev_report (ev, RULE_LIMIT_PIDS, ACTION_REJECT, t.pointer,
                       "a limit of %lld processes is above the policy's maximum of %llu",
                       (long long)pids->limit, (unsigned long long)range->max),
            "set --pids-limit within the policy's limits.pids.max");
  if (set || !ev_tighten (ev, &t, "the number of processes is not limited"))
    return;
  pids = ev_alloc (ev, 1, sizeof *pids);
  if (pids == NULL)
    return;
  pids->has_limit = true;
  pids->limit = (int64_t)range->standard;
  resources->pids = pids;
}

/* ---- limit.cpu ---- */

static void set_quota (struct evaluation *ev, struct oci_resources *resources, uint64_t period)
{
  uint64_t quota = period * ev->policy->values.cpu.standard / 1000;
  struct oci_cpu *cpu = resources->cpu;
  struct tightening t = {
    .rule = RULE_LIMIT_CPU,
    .pointer = "/linux/resources/cpu/quota",
    .old = cpu != NULL && cpu->has_quota ? ev_printf (ev, "%lld", (long long)cpu->quota) : "null",
    .new = ev_printf (ev, "%llu", (unsigned long long)quota),
    .fix = "add --cpus 1 (Kubernetes: resources.limits.cpu)",
  };

  if (!ev_tighten (ev, &t, "processor time is not limited"))
    return;
  if (cpu == NULL)
    cpu = resources->cpu = ev_alloc (ev, 1, sizeof *cpu);
  if (cpu == NULL)
    return;
  cpu->has_quota = cpu->has_period = true;
  cpu->quota = (int64_t)quota;
  cpu->period = period;
}

static void check_cpu (struct evaluation *ev, struct oci_resources *resources)
{
  const struct oci_cpu *cpu = resources->cpu;
  uint64_t period = cpu != NULL && cpu->has_period && cpu->period > 0 ? cpu->period : CPU_PERIOD;
  uint64_t max = ev->policy->values.cpu.max;
  struct finding *f = NULL;

  /* The kernel takes periods from a millisecond to a second.  */
  if (period > 1000000)
    f = ev_report (ev, RULE_LIMIT_CPU, ACTION_REJECT, "/linux/resources/cpu/period",
                   "a period of more than a second");
  else if (cpu == NULL || !cpu->has_quota || cpu->quota <= 0)
    set_quota (ev, resources, period);
  else if ((uint64_t)cpu->quota > period * max / 1000)
    f = ev_report (
        ev, RULE_LIMIT_CPU, ACTION_REJECT, "/linux/resources/cpu/quota",
        "%lld us of processor time in %llu us are above the policy's maximum of %llu.%03llu "
        "processors",
        (long long)cpu->quota, (unsigned long long)period, (unsigned long long)(max / 1000),
        (unsigned long long)(max % 1000));
  ev_fix (ev, f, "set --cpus within the policy's limits.cpu.max");
  f = NULL;
  if (cpu != NULL
      && ((cpu->has_realtime_runtime && cpu->realtime_runtime != 0)
          || (cpu->has_realtime_period && cpu->realtime_period != 0)))
    f = ev_report (ev, RULE_LIMIT_CPU, ACTION_REJECT, "/linux/resources/cpu/realtimeRuntime",
                   "real-time processor time is asked for");
  ev_fix (ev, f, "remove --cpu-rt-runtime and --cpu-rt-period");
}

/* ---- limit.unified ---- */

/* Plain limits of cgroup v2, which the rules above can hold against the policy.  */
bool unified_is_limit (const struct policy_values *values, const char *key, const char *value)
{
  const struct
  {
    const char *key;
    uint64_t min, max;
  } rows[] = {
    { "memory.max", 1, values->memory.max },
    { "memory.high", 1, values->memory.max },
    { "memory.swap.max", 0, 0 },
    { "pids.max", 1, values->pids.max },
    { "cpu.weight", 1, 10000 },
    { "io.weight", 1, 10000 },
  };
  uint64_t parsed;

  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (str_equal (key, rows[i].key))
      return str_to_u64 (value, rows[i].min, rows[i].max, &parsed) == 0;
  return false;
}

static void check_unified (struct evaluation *ev, const struct oci_map *unified)
{
  char key[STR_QUOTE_MAX], value[STR_QUOTE_MAX];

  for (size_t i = 0; i < unified->len; i++)
    {
      char *member = pointer_escape (ev->arena, unified->keys[i]);

      if (unified_is_limit (&ev->policy->values, unified->keys[i], unified->values[i]))
        continue;
      ev_fix (
          ev,
          ev_report (ev, RULE_LIMIT_UNIFIED, ACTION_REJECT,
                     ev_printf (ev, "/linux/resources/unified/%s", member == NULL ? "" : member),
                     "the raw cgroup setting %s = %s is not a limit within the policy",
                     str_quote (unified->keys[i], key), str_quote (unified->values[i], value)),
          "remove it, use -m, --pids-limit and --cpus");
    }
}

/* ---- limit.unenforced ---- */

/* Only of what was asked for, not of what this policy adds: so before anything is tightened.  */
static void check_unenforced (struct evaluation *ev)
{
  const struct fact_host *host = ev->facts->host;
  bool asked = resources_ask_for_limits (ev->config->linux->resources);
  struct finding *f;

  if (ev->pass > 0 || host == NULL || !host->has_no_cgroup || !host->no_cgroup)
    return;
  bool rootless = facts_are_rootless (ev->facts) || host->uid != 0;
  f = ev_report (
      ev, RULE_LIMIT_UNENFORCED, rootless && !asked ? ACTION_WARN : ACTION_REJECT,
      "/linux/resources", "no control group can be made for the container: nothing would hold %s",
      asked ? "the limits that are asked for" : "the policy's limits of memory, processes and CPU");
  ev_fix (ev, f, "delegate a group to the user (systemd: Delegate=yes), or run it as root");
}

void check_limits (struct evaluation *ev)
{
  check_unenforced (ev);

  struct oci_resources *resources = resources_of (ev);

  if (resources == NULL)
    return;
  check_memory (ev, resources);
  check_pids (ev, resources);
  check_cpu (ev, resources);
  check_unified (ev, &resources->unified);
}

/* ---- limit.tmpfs ---- */

/* The container's memory limit, after tightening.  */
static uint64_t memory_limit (const struct evaluation *ev)
{
  const struct oci_resources *resources = ev->config->linux->resources;
  const struct oci_memory *memory = resources == NULL ? NULL : resources->memory;

  if (memory != NULL && memory->has_limit && memory->limit > 0)
    return (uint64_t)memory->limit;
  return ev->policy->values.memory.standard;
}

/* tmpfs(5): a number with k, m or g; a share of the host's memory can't be told here.  */
static bool parse_size (const char *text, uint64_t unit, uint64_t *ret)
{
  char digits[24];
  size_t len = strspn (text, "0123456789");
  const char *suffixes = "kmgt", *suffix;
  uint64_t value;

  if (len == 0 || len >= sizeof digits)
    return false;
  memcpy (digits, text, len);
  digits[len] = '\0';
  if (text[len] != '\0')
    {
      suffix = strchr (suffixes, text[len] | 0x20);
      if (suffix == NULL || text[len + 1] != '\0')
        return false;
      unit <<= 10 * (suffix - suffixes + 1);
    }
  return str_to_u64 (digits, 0, INT64_MAX, &value) == 0
         && !__builtin_mul_overflow (value, unit, ret);
}

static void set_size (struct evaluation *ev, struct mount_view *view, uint64_t bytes)
{
  struct oci_mount *mount = view->mount;
  char **options = ev_alloc (ev, mount->options_len + 2, sizeof *options);
  struct tightening t = {
    .rule = RULE_LIMIT_TMPFS,
    .pointer = ev_printf (ev, "%s/options", view->pointer),
    .fix = "add :size=64m to --tmpfs",
  };

  if (options == NULL)
    return;
  for (size_t i = 0; i < mount->options_len; i++)
    options[i] = mount->options[i];
  options[mount->options_len] = ev_printf (ev, "size=%llu", (unsigned long long)bytes);
  t.old = ev_json_strings (ev, mount->options, mount->options_len);
  t.new = ev_json_strings (ev, options, mount->options_len + 1);
  if (ev_tighten (ev, &t, "the tmpfs on %s is not limited", view->destination))
    mount_set_options (ev, view, options, mount->options_len + 1);
}

static void check_tmpfs (struct evaluation *ev, struct mount_view *view)
{
  const struct policy_values *values = &ev->policy->values;
  uint64_t max = values->tmpfs_max_is_memory ? memory_limit (ev) : values->tmpfs.max;
  uint64_t standard = values->tmpfs_default_is_memory ? memory_limit (ev) : values->tmpfs.standard;
  bool sized = false;
  struct finding *f = NULL;

  for (size_t i = 0; i < view->options.data_len; i++)
    {
      const char *option = view->options.data[i];
      bool blocks = str_has_prefix (option, "nr_blocks=");
      uint64_t bytes = 0;

      if (!blocks && !str_has_prefix (option, "size="))
        continue;
      sized = true;
      if (!parse_size (strchr (option, '=') + 1, blocks ? 4096 : 1, &bytes))
        f = ev_report (ev, RULE_LIMIT_TMPFS, ACTION_REJECT, view->pointer,
                       "the size of the tmpfs on %s can't be held against the policy",
                       view->destination);
      else if (bytes > max)
        f = ev_report (ev, RULE_LIMIT_TMPFS, ACTION_REJECT, view->pointer,
                       "the tmpfs on %s has %llu bytes, above the maximum of %llu",
                       view->destination, (unsigned long long)bytes, (unsigned long long)max);
      ev_fix (ev, f, "set size= to a number of bytes within the limit");
    }
  if (!sized)
    set_size (ev, view, standard < max ? standard : max);
}

void check_tmpfs_limits (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    if (!views[i].options.bind && str_equal (views[i].mount->type, "tmpfs"))
      check_tmpfs (ev, &views[i]);
}
