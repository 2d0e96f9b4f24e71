/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `linux.resources` (config-linux.md, "Control groups"): what no kernel takes.
   How much a container may have is the policy's question.  Pure, needs no privilege.  */
#include <string.h>

#include "base/str.h"
#include "spec/validate_checks.h"

static const struct oci_resources *resources_of (const struct oci_config *config)
{
  return config->linux == NULL ? NULL : config->linux->resources;
}

/* -1 is "unlimited" throughout; a number below it is a mistake, not a wish.  */
static void check_not_below (const char *pointer, bool has, int64_t value, int64_t min,
                             struct findings *findings)
{
  if (has && value < min)
    reject (findings, "config.invalid", pointer, "%s is %lld, less than %lld", pointer,
            (long long)value, (long long)min);
}

void validate_memory (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  const struct oci_memory *m = r == NULL ? NULL : r->memory;
#define AT "/linux/resources/memory/"

  if (m == NULL)
    return;
  check_not_below (AT "limit", m->has_limit, m->limit, -1, findings);
  check_not_below (AT "reservation", m->has_reservation, m->reservation, -1, findings);
  check_not_below (AT "swap", m->has_swap, m->swap, -1, findings);
  check_not_below (AT "kernel", m->has_kernel, m->kernel, -1, findings);
  check_not_below (AT "kernelTCP", m->has_kernel_tcp, m->kernel_tcp, -1, findings);
  if (m->has_swappiness && m->swappiness > 100)
    reject (findings, "config.invalid", AT "swappiness", "memory.swappiness is above 100");
  /* swap counts memory and swap together.  */
  if (m->has_swap && m->swap > 0 && m->has_limit && m->limit > m->swap)
    reject (findings, "config.invalid", AT "swap",
            "memory.swap, which includes memory, is below memory.limit");
#undef AT
}

/* A list as cpuset(7) takes it: "0-3,7".  */
static bool is_cpu_list (const char *list)
{
  for (;;)
    {
      size_t digits = strspn (list, "0123456789");

      if (digits == 0)
        return false;
      list += digits;
      if (*list == '-')
        {
          digits = strspn (list + 1, "0123456789");
          if (digits == 0)
            return false;
          list += digits + 1;
        }
      if (*list == '\0')
        return true;
      if (*list++ != ',')
        return false;
    }
}

static void check_cpu_list (const char *pointer, const char *list, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  if (!is_empty (list) && !is_cpu_list (list))
    reject (findings, "config.invalid", pointer, "\"%s\" is no list such as 0-3,7",
            str_quote (list, quoted));
}

void validate_cpu (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  const struct oci_cpu *c = r == NULL ? NULL : r->cpu;
#define AT "/linux/resources/cpu/"

  if (c == NULL)
    return;
  check_not_below (AT "quota", c->has_quota, c->quota, -1, findings);
  check_not_below (AT "realtimeRuntime", c->has_realtime_runtime, c->realtime_runtime, -1,
                   findings);
  check_cpu_list (AT "cpus", c->cpus, findings);
  check_cpu_list (AT "mems", c->mems, findings);
  if (c->has_idle && c->idle != 0 && c->idle != 1)
    reject (findings, "config.invalid", AT "idle", "cpu.idle is neither 0 nor 1");
  if (c->has_burst && c->has_quota && c->quota > 0 && c->burst > (uint64_t)c->quota)
    reject (findings, "config.invalid", AT "burst", "cpu.burst is above cpu.quota");
#undef AT
}

void validate_pids (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);

  if (r != NULL && r->pids != NULL)
    check_not_below ("/linux/resources/pids/limit", r->pids->has_limit, r->pids->limit, -1,
                     findings);
}

/* ---- blockIO ---- */

static void check_weight (const char *pointer, bool has, unsigned weight, struct findings *findings)
{
  if (has && weight != 0 && (weight < 10 || weight > 1000))
    reject (findings, "config.invalid", pointer, "%s is %u, not from 10 to 1000", pointer, weight);
}

static void check_block_device (const char *list, size_t i, int64_t major, int64_t minor,
                                struct findings *findings)
{
  if (major < 0 || minor < 0)
    reject (findings, "config.invalid",
            pointer_printf (findings->arena, "/linux/resources/blockIO/%s/%zu", list, i),
            "entry %zu of blockIO.%s has a negative device number", i, list);
}

struct throttle_list
{
  const char *name;
  const struct oci_throttle_device *devices;
  size_t len;
};

void validate_block_io (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  const struct oci_block_io *b = r == NULL ? NULL : r->block_io;

  if (b == NULL)
    return;
  const struct throttle_list lists[] = {
    { "throttleReadBpsDevice", b->throttle_read_bps_device, b->throttle_read_bps_device_len },
    { "throttleWriteBpsDevice", b->throttle_write_bps_device, b->throttle_write_bps_device_len },
    { "throttleReadIOPSDevice", b->throttle_read_iops_device, b->throttle_read_iops_device_len },
    { "throttleWriteIOPSDevice", b->throttle_write_iops_device, b->throttle_write_iops_device_len },
  };
  check_weight ("/linux/resources/blockIO/weight", b->has_weight, b->weight, findings);
  check_weight ("/linux/resources/blockIO/leafWeight", b->has_leaf_weight, b->leaf_weight,
                findings);
  for (size_t i = 0; i < b->weight_device_len; i++)
    {
      const struct oci_weight_device *d = &b->weight_device[i];

      check_block_device ("weightDevice", i, d->major, d->minor, findings);
      check_weight ("/linux/resources/blockIO/weightDevice", d->has_weight, d->weight, findings);
      check_weight ("/linux/resources/blockIO/weightDevice", d->has_leaf_weight, d->leaf_weight,
                    findings);
    }
  for (size_t l = 0; l < ARRAY_SIZE (lists); l++)
    for (size_t i = 0; i < lists[l].len; i++)
      check_block_device (lists[l].name, i, lists[l].devices[i].major, lists[l].devices[i].minor,
                          findings);
}

/* ---- devices ---- */

static void check_device_rule (const struct oci_device_cgroup *d, size_t i,
                               struct findings *findings)
{
  static const char *const types[] = { "a", "b", "c", NULL };
  char *pointer = pointer_printf (findings->arena, "/linux/resources/devices/%zu", i);

  if (!d->has_allow)
    reject (findings, "config.invalid", pointer, "device rule %zu says neither allow nor deny", i);
  if (!is_empty (d->type) && !word_in (d->type, types))
    reject (findings, "config.invalid", pointer, "device rule %zu has a type other than a, b, c",
            i);
  if ((d->has_major && d->major < -1) || (d->has_minor && d->minor < -1))
    reject (findings, "config.invalid", pointer, "device rule %zu has a number below -1", i);
  if (d->access != NULL && strspn (d->access, "rwm") != strlen (d->access))
    reject (findings, "config.invalid", pointer, "device rule %zu has an access other than r, w, m",
            i);
}

void validate_device_rules (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);

  for (size_t i = 0; r != NULL && i < r->devices_len; i++)
    check_device_rule (&r->devices[i], i, findings);
}

/* ---- the rest ---- */

/* "2MB": config-linux.md, "Huge page limits".  */
static bool is_page_size (const char *s)
{
  static const char *const units[] = { "KB", "MB", "GB", NULL };
  size_t digits = s == NULL ? 0 : strspn (s, "0123456789");

  return digits > 0 && s[0] != '0' && word_in (s + digits, units);
}

void validate_huge_pages (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; r != NULL && i < r->hugepage_limits_len; i++)
    if (!is_page_size (r->hugepage_limits[i].page_size))
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/resources/hugepageLimits/%zu/pageSize", i),
              "\"%s\" is no page size such as 2MB",
              str_quote (r->hugepage_limits[i].page_size, quoted));
}

void validate_network (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  const struct oci_network *n = r == NULL ? NULL : r->network;

  for (size_t i = 0; n != NULL && i < n->priorities_len; i++)
    if (is_empty (n->priorities[i].name))
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/resources/network/priorities/%zu", i),
              "entry %zu of network.priorities names no interface", i);
}

/* A key is the name of a file in the container's cgroup: it must not lead out of it.  */
void validate_unified (const struct oci_config *config, struct findings *findings)
{
  const struct oci_resources *r = resources_of (config);
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; r != NULL && i < r->unified.len; i++)
    {
      const char *key = r->unified.keys[i];

      if (is_empty (key) || key[0] == '.' || strspn (key, letters) != strlen (key))
        reject (findings, "limit.unified", "/linux/resources/unified",
                "\"%s\" is no name of a cgroup file", str_quote (key, quoted));
    }
}

void spec_validate_resources (const struct oci_resources *resources, struct findings *findings)
{
  static validate_check *const checks[] = {
    validate_memory,       validate_cpu,        validate_pids,    validate_block_io,
    validate_device_rules, validate_huge_pages, validate_network, validate_unified,
  };
  struct oci_linux linux = { .resources = (struct oci_resources *)resources };
  const struct oci_config config = { .linux = &linux };

  for (size_t i = 0; i < ARRAY_SIZE (checks); i++)
    checks[i](&config, findings);
}
