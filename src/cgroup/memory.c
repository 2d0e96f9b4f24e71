/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.memory.  Pure code.  config-linux.md "Memory"; the kernel's cgroup-v1/memory.rst
   and cgroup-v2.rst.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

#define MEMBER(name) offsetof (struct oci_memory, has_##name), offsetof (struct oci_memory, name)

static const struct plan_number numbers[] = {
  { "memory.reservation", "memory.soft_limit_in_bytes", "memory.low", MEMBER (reservation),
    NUMBER_LIMIT, NUMBER_ZERO_LEAVES, 0 },
  { "memory.kernelTCP", "memory.kmem.tcp.limit_in_bytes", NULL, MEMBER (kernel_tcp), NUMBER_LIMIT,
    NUMBER_ZERO_LEAVES, 0 },
  { "memory.swappiness", "memory.swappiness", NULL, MEMBER (swappiness), NUMBER_U64, 0, 0 },
};

static bool is_given (bool has, int64_t value) { return has && value != 0; }

static int check_limits (const struct oci_memory *m, struct error *err)
{
  const struct
  {
    const char *field;
    bool has;
    int64_t value;
  } limits[] = {
    { "limit", m->has_limit, m->limit },
    { "swap", m->has_swap, m->swap },
  };

  for (size_t i = 0; i < ARRAY_SIZE (limits); i++)
    if (limits[i].has && limits[i].value < -1)
      return error_set (err, -EINVAL,
                        "linux.resources.memory.%s: %" PRId64
                        " is neither a limit nor -1 (no limit)",
                        limits[i].field, limits[i].value);
  if (m->has_limit && m->has_swap && m->limit > 0 && m->swap > 0 && m->swap < m->limit)
    return error_set (err, -EINVAL,
                      "linux.resources.memory.swap: %" PRId64
                      " is memory and swap together, so it can't be below memory.limit %" PRId64,
                      m->swap, m->limit);
  return 0;
}

/* The kernel demands limit <= memsw at every moment, so the right order depends on what holds now:
   the limit first, and again behind memsw if that was too early.  Unlimited memory with a limit on
   memory and swap is none, so swap goes with it.  */
static int plan_v1_limits (struct planner *p, const struct oci_memory *m, struct error *err)
{
  char value[PLAN_VALUE_MAX];
  bool swap = is_given (m->has_swap, m->swap);
  bool limit = is_given (m->has_limit, m->limit);
  int r = 0;

  if (limit)
    {
      snprintf (value, sizeof (value), "%" PRId64, m->limit);
      r = plan_write (p, CONTROLLER_MEMORY, WRITE_DEFER, "memory.limit", "memory.limit_in_bytes",
                      value, err);
    }
  if (r >= 0 && swap)
    {
      unsigned flags = limit && m->swap == m->limit && m->limit > 0 ? WRITE_NO_SWAP : 0;
      snprintf (value, sizeof (value), "%" PRId64, m->swap);
      r = plan_write (p, CONTROLLER_MEMORY, flags | WRITE_DEFER, "memory.swap",
                      "memory.memsw.limit_in_bytes", value, err);
    }
  else if (r >= 0 && limit && m->limit == -1)
    r = plan_write (p, CONTROLLER_MEMORY, WRITE_IF_PRESENT, "memory.limit",
                    "memory.memsw.limit_in_bytes", "-1", err);
  return r;
}

/* cgroup v2 limits swap alone, the config memory and swap together.  */
static int plan_v2_swap (struct planner *p, const struct oci_memory *m, struct error *err)
{
  char value[PLAN_VALUE_MAX];

  if (!is_given (m->has_swap, m->swap))
    {
      if (m->has_limit && m->limit == -1)
        return plan_write (p, CONTROLLER_MEMORY, WRITE_IF_PRESENT, "memory.limit",
                           "memory.swap.max", "max", err);
      return 0;
    }
  if (m->swap == -1)
    return plan_write (p, CONTROLLER_MEMORY, WRITE_IF_PRESENT, "memory.swap", "memory.swap.max",
                       "max", err);
  if (!is_given (m->has_limit, m->limit) || m->limit == -1)
    return error_set (err, -EINVAL,
                      "linux.resources.memory.swap: %" PRId64
                      " is memory and swap together; without memory.limit it can't be converted "
                      "for cgroup v2",
                      m->swap);
  snprintf (value, sizeof (value), "%" PRId64, m->swap - m->limit);
  return plan_write (p, CONTROLLER_MEMORY, m->swap == m->limit ? WRITE_NO_SWAP : 0, "memory.swap",
                     "memory.swap.max", value, err);
}

static int plan_v2_limits (struct planner *p, const struct oci_memory *m, struct error *err)
{
  bool check = m->has_check_before_update && m->check_before_update;
  char value[PLAN_VALUE_MAX] = "max";
  int r = 0;

  if (is_given (m->has_limit, m->limit))
    {
      if (m->limit > 0)
        snprintf (value, sizeof (value), "%" PRId64, m->limit);
      r = plan_write (p, CONTROLLER_MEMORY, check && m->limit > 0 ? WRITE_CHECK_USAGE : 0,
                      "memory.limit", "memory.max", value, err);
    }
  return r < 0 ? r : plan_v2_swap (p, m, err);
}

/* What the kernel can no longer do, or only one version can.  */
static int plan_switches (struct planner *p, const struct oci_memory *m, struct error *err)
{
  bool v2 = plan_version (p, CONTROLLER_MEMORY) == CONTROLLER_V2;

  /* Since Linux 5.16 the file takes any value and limits nothing.  */
  if (m->has_kernel && m->kernel != 0 && m->kernel != -1)
    return plan_unsupported ("memory.kernel", "Linux no longer limits kernel memory apart", err);
  if (m->has_disable_oom_killer && m->disable_oom_killer)
    {
      if (v2)
        return plan_unsupported ("memory.disableOOMKiller", "cgroup v2 has nothing like it", err);
      int r = plan_write (p, CONTROLLER_MEMORY, 0, "memory.disableOOMKiller", "memory.oom_control",
                          "1", err);
      if (r < 0)
        return r;
    }
  /* Since Linux 5.11 v1 knows no other way than to count hierarchically, as v2 always did.  */
  if (m->has_use_hierarchy && !m->use_hierarchy)
    return plan_unsupported ("memory.useHierarchy", "Linux always counts hierarchically", err);
  return 0;
}

int plan_memory (struct planner *p, const struct oci_resources *r, struct error *err)
{
  const struct oci_memory *m = r->memory;
  int ret;

  if (m == NULL)
    return 0;
  ret = check_limits (m, err);
  if (ret >= 0)
    ret = plan_switches (p, m, err);
  if (ret >= 0 && plan_version (p, CONTROLLER_MEMORY) == CONTROLLER_V2)
    ret = plan_v2_limits (p, m, err);
  else if (ret >= 0)
    ret = plan_v1_limits (p, m, err);
  if (ret < 0)
    return ret;
  return plan_numbers (p, CONTROLLER_MEMORY, m, numbers, ARRAY_SIZE (numbers), err);
}
