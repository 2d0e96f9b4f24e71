/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.cpu without cpus and mems.  Pure code.  config-linux.md "CPU"; the kernel's
   sched-bwc.rst, sched-rt-group.rst and cgroup-v2.rst.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

#define MEMBER(name) offsetof (struct oci_cpu, has_##name), offsetof (struct oci_cpu, name)

/* Period, quota and burst are checked by the kernel against each other and against the parent's, so
   each may be too early.  */
static const struct plan_number numbers_v1[] = {
  { "cpu.shares", "cpu.shares", NULL, MEMBER (shares), NUMBER_U64, NUMBER_ZERO_LEAVES,
    WRITE_DEFER },
  { "cpu.period", "cpu.cfs_period_us", NULL, MEMBER (period), NUMBER_U64, NUMBER_ZERO_LEAVES,
    WRITE_DEFER },
  { "cpu.quota", "cpu.cfs_quota_us", NULL, MEMBER (quota), NUMBER_LIMIT, NUMBER_ZERO_LEAVES,
    WRITE_DEFER },
  { "cpu.realtimePeriod", "cpu.rt_period_us", NULL, MEMBER (realtime_period), NUMBER_U64,
    NUMBER_ZERO_LEAVES, WRITE_DEFER },
  { "cpu.realtimeRuntime", "cpu.rt_runtime_us", NULL, MEMBER (realtime_runtime), NUMBER_LIMIT,
    NUMBER_ZERO_LEAVES, WRITE_DEFER },
};

/* cgroup v2 has no realtime limits; these only word the refusal.  */
static const struct plan_number numbers_v2[] = {
  { "cpu.realtimePeriod", NULL, NULL, MEMBER (realtime_period), NUMBER_U64, NUMBER_ZERO_LEAVES, 0 },
  { "cpu.realtimeRuntime", NULL, NULL, MEMBER (realtime_runtime), NUMBER_I64, NUMBER_ZERO_LEAVES,
    0 },
};

/* Logarithm to base 2 of X (1 to 2^31), digit by digit, as a number of 2^-24; libm would be one
   more library to load.  */
#define DIGITS 24
#define ONE    ((uint64_t)1 << DIGITS)

static uint64_t log2_fixed (uint64_t x)
{
  unsigned whole = 63 - (unsigned)__builtin_clzll (x);
  uint64_t result = whole * ONE;
  uint64_t m = x << (31 - whole); /* from 1 to below 2, 31 digits behind the point */

  for (uint64_t digit = ONE / 2; digit != 0; digit /= 2)
    {
      m = (m * m) >> 31;
      if (m >> 32 != 0)
        {
          m /= 2;
          result += digit;
        }
    }
  return result;
}

uint64_t cpu_weight_of_shares (uint64_t shares)
{
  const uint64_t log2_of_10 = 55732705; /* 3.3219281 */
  const uint64_t inexact = 64;
  uint64_t low = 1, high = 10000;

  if (shares <= 2)
    return low;
  if (shares >= 262144)
    return high;

  uint64_t l = log2_fixed (shares);
  uint64_t log10_weight = (l * l / ONE + 125 * l) / 612 - 7 * ONE / 34;
  uint64_t log2_weight = log10_weight * log2_of_10 / ONE;
  while (low < high)
    {
      uint64_t middle = (low + high) / 2;
      if (log2_fixed (middle) + inexact >= log2_weight)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* A burst of 0 is what a kernel without bursts does.  */
static int plan_burst (struct planner *p, const struct oci_cpu *c, const char *file,
                       struct error *err)
{
  char value[PLAN_VALUE_MAX];

  if (!c->has_burst)
    return 0;
  if (c->has_quota && c->quota > 0 && c->burst > (uint64_t)c->quota)
    return error_set (err, -EINVAL,
                      "linux.resources.cpu.burst: %" PRIu64 " is more than cpu.quota %" PRId64,
                      c->burst, c->quota);
  snprintf (value, sizeof (value), "%" PRIu64, c->burst);
  return plan_write (p, CONTROLLER_CPU, WRITE_DEFER | (c->burst == 0 ? WRITE_IF_PRESENT : 0),
                     "cpu.burst", file, value, err);
}

static int plan_idle (struct planner *p, const struct oci_cpu *c, struct error *err)
{
  char value[PLAN_VALUE_MAX];

  if (!c->has_idle)
    return 0;
  snprintf (value, sizeof (value), "%" PRId64, c->idle);
  return plan_write (p, CONTROLLER_CPU, c->idle == 0 ? WRITE_IF_PRESENT : 0, "cpu.idle", "cpu.idle",
                     value, err);
}

/* cpu.max is "QUOTA PERIOD" or "QUOTA"; a period alone needs the quota that holds now.  */
static int plan_max (struct planner *p, const struct oci_cpu *c, struct error *err)
{
  bool has_quota = c->has_quota && c->quota != 0;
  bool has_period = c->has_period && c->period != 0;
  char quota[32] = "max";
  char value[PLAN_VALUE_MAX];

  if (!has_quota && !has_period)
    return 0;
  if (has_quota && c->quota < -1)
    return error_set (err, -EINVAL,
                      "linux.resources.cpu.quota: %" PRId64 " is neither a limit nor -1 (no limit)",
                      c->quota);
  if (has_quota && c->quota > 0)
    snprintf (quota, sizeof (quota), "%" PRId64, c->quota);
  if (has_quota && has_period)
    snprintf (value, sizeof (value), "%s %" PRIu64, quota, c->period);
  else if (has_quota)
    snprintf (value, sizeof (value), "%s", quota);
  else
    snprintf (value, sizeof (value), "%" PRIu64, c->period);
  return plan_write (p, CONTROLLER_CPU, WRITE_DEFER | (has_quota ? 0 : WRITE_KEEP_QUOTA),
                     has_quota ? "cpu.quota" : "cpu.period", "cpu.max", value, err);
}

static int plan_cpu_v2 (struct planner *p, const struct oci_cpu *c, struct error *err)
{
  char value[PLAN_VALUE_MAX];
  int r = plan_numbers (p, CONTROLLER_CPU, c, numbers_v2, ARRAY_SIZE (numbers_v2), err);

  if (r >= 0 && c->has_shares && c->shares != 0)
    {
      snprintf (value, sizeof (value), "%" PRIu64, cpu_weight_of_shares (c->shares));
      r = plan_write (p, CONTROLLER_CPU, WRITE_DEFER, "cpu.shares", "cpu.weight", value, err);
    }
  if (r >= 0)
    r = plan_max (p, c, err);
  if (r >= 0)
    r = plan_burst (p, c, "cpu.max.burst", err);
  return r < 0 ? r : plan_idle (p, c, err);
}

int plan_cpu (struct planner *p, const struct oci_resources *r, struct error *err)
{
  const struct oci_cpu *c = r->cpu;
  int ret;

  if (c == NULL)
    return 0;
  if (plan_version (p, CONTROLLER_CPU) == CONTROLLER_V2)
    return plan_cpu_v2 (p, c, err);
  ret = plan_numbers (p, CONTROLLER_CPU, c, numbers_v1, ARRAY_SIZE (numbers_v1), err);
  if (ret >= 0)
    ret = plan_burst (p, c, "cpu.cfs_burst_us", err);
  return ret < 0 ? ret : plan_idle (p, c, err);
}
