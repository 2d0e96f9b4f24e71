/* SPDX-License-Identifier: Apache-2.0 */
/* update: other limits for a container, from a document or from flags, judged against the record of
   what was admitted.  */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/stages_update.h"

/* All values are text until their field is known: each has its own range, and an absent flag must
   not look like a 0.  */
struct update_options
{
  const char *resources;
  const char *memory, *memory_swap, *memory_reservation, *kernel_memory, *kernel_memory_tcp;
  const char *cpu_shares, *cpu_quota, *cpu_period, *cpu_burst, *cpu_idle;
  const char *cpu_rt_period, *cpu_rt_runtime, *cpuset_cpus, *cpuset_mems;
  const char *pids_limit, *blkio_weight;
  const char *l3_cache_schema, *mem_bw_schema;
};

#define ROW(name, letter, member, argument, help)                                                  \
  {                                                                                                \
    name, letter, OPTION_STRING, offsetof (struct update_options, member), argument, help          \
  }

static const struct option_row rows[] = {
  ROW ("resources", 'r', resources, "FILE", "linux.resources as JSON; - for standard input"),
  ROW ("memory", 0, memory, "BYTES", "memory limit; k, m, g may follow, -1 is no limit"),
  ROW ("memory-swap", 0, memory_swap, "BYTES", "limit of memory and swap together"),
  ROW ("memory-reservation", 0, memory_reservation, "BYTES", "soft limit"),
  ROW ("kernel-memory", 0, kernel_memory, "BYTES", "refused: Linux no longer has it"),
  ROW ("kernel-memory-tcp", 0, kernel_memory_tcp, "BYTES", "limit of TCP buffers (cgroup v1)"),
  ROW ("cpu-quota", 0, cpu_quota, "US", "processor time in each period; -1 is no limit"),
  ROW ("cpu-period", 0, cpu_period, "US", "length of the period"),
  ROW ("cpu-shares", 0, cpu_shares, "N", "weight against other containers"),
  ROW ("cpu-share", 0, cpu_shares, "N", "the same"),
  ROW ("cpu-burst", 0, cpu_burst, "US", "unused quota that may be carried over"),
  ROW ("cpu-idle", 0, cpu_idle, "0|1", "run only when nothing else would"),
  ROW ("cpu-rt-period", 0, cpu_rt_period, "US", "period of real-time scheduling (cgroup v1)"),
  ROW ("cpu-rt-runtime", 0, cpu_rt_runtime, "US", "real-time processor time in each period"),
  ROW ("cpuset-cpus", 0, cpuset_cpus, "LIST", "processors, such as 0-3,7"),
  ROW ("cpuset-mems", 0, cpuset_mems, "LIST", "memory nodes"),
  ROW ("pids-limit", 0, pids_limit, "N", "number of processes; -1 is no limit"),
  ROW ("blkio-weight", 0, blkio_weight, "N", "weight of block I/O, from 10 to 1000"),
  ROW ("l3-cache-schema", 0, l3_cache_schema, "LINE", "cache of the resctrl group: L3:0=ff"),
  ROW ("mem-bw-schema", 0, mem_bw_schema, "LINE", "its memory bandwidth: MB:0=50"),
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* The parts of linux.resources that flags can set.  */
struct flag_resources
{
  struct oci_memory memory;
  struct oci_cpu cpu;
  struct oci_pids pids;
  struct oci_block_io block_io;
  bool has_memory, has_cpu, has_pids, has_block_io;
};

enum flag_kind
{
  FLAG_BYTES, /* i64 with a unit */
  FLAG_I64,
  FLAG_U64,
  FLAG_U16
};

struct flag
{
  const char *name;
  size_t text;
  size_t part; /* has_memory … */
  size_t has, value;
  enum flag_kind kind;
};

#define FLAG(name, text, part, member, kind)                                                       \
  {                                                                                                \
    name, offsetof (struct update_options, text), offsetof (struct flag_resources, has_##part),    \
        offsetof (struct flag_resources, part.has_##member),                                       \
        offsetof (struct flag_resources, part.member), kind                                        \
  }

static const struct flag flags[] = {
  FLAG ("memory", memory, memory, limit, FLAG_BYTES),
  FLAG ("memory-swap", memory_swap, memory, swap, FLAG_BYTES),
  FLAG ("memory-reservation", memory_reservation, memory, reservation, FLAG_BYTES),
  FLAG ("kernel-memory", kernel_memory, memory, kernel, FLAG_BYTES),
  FLAG ("kernel-memory-tcp", kernel_memory_tcp, memory, kernel_tcp, FLAG_BYTES),
  FLAG ("cpu-shares", cpu_shares, cpu, shares, FLAG_U64),
  FLAG ("cpu-quota", cpu_quota, cpu, quota, FLAG_I64),
  FLAG ("cpu-period", cpu_period, cpu, period, FLAG_U64),
  FLAG ("cpu-burst", cpu_burst, cpu, burst, FLAG_U64),
  FLAG ("cpu-idle", cpu_idle, cpu, idle, FLAG_I64),
  FLAG ("cpu-rt-period", cpu_rt_period, cpu, realtime_period, FLAG_U64),
  FLAG ("cpu-rt-runtime", cpu_rt_runtime, cpu, realtime_runtime, FLAG_I64),
  FLAG ("pids-limit", pids_limit, pids, limit, FLAG_I64),
  FLAG ("blkio-weight", blkio_weight, block_io, weight, FLAG_U16),
};

/* "512m": a number with one of k, m, g, t, in powers of 1024; a b may follow.  */
static int parse_bytes (const char *text, int64_t *ret)
{
  static const char units[] = "kmgt";
  char digits[32];
  size_t len = strlen (text);
  int64_t unit = 1, value;

  if (len > 1 && tolower ((unsigned char)text[len - 1]) == 'b')
    len--;
  const char *suffix = len > 1 ? strchr (units, tolower ((unsigned char)text[len - 1])) : NULL;
  if (suffix != NULL)
    {
      unit = INT64_C (1) << (10 * (suffix - units + 1));
      len--;
    }
  if (len >= sizeof digits)
    return -EINVAL;
  memcpy (digits, text, len);
  digits[len] = '\0';
  if (str_to_i64 (digits, -1, INT64_MAX, &value) < 0
      || __builtin_mul_overflow (value, value < 0 ? 1 : unit, ret))
    return -EINVAL;
  return 0;
}

static int parse_flag (enum flag_kind kind, const char *text, void *at)
{
  int64_t number = 0;
  uint64_t natural = 0;
  int r = kind == FLAG_BYTES ? parse_bytes (text, &number)
          : kind == FLAG_I64
              ? str_to_i64 (text, INT64_MIN, INT64_MAX, &number)
              : str_to_u64 (text, 0, kind == FLAG_U16 ? UINT16_MAX : UINT64_MAX, &natural);

  if (r < 0)
    return r;
  if (kind == FLAG_U16)
    *(uint16_t *)at = (uint16_t)natural;
  else if (kind == FLAG_U64)
    *(uint64_t *)at = natural;
  else
    *(int64_t *)at = number;
  return 0;
}

static int parse_flags (const struct update_options *o, struct flag_resources *ret, bool *ret_any,
                        struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  char *base = (char *)ret;

  for (size_t i = 0; i < ARRAY_SIZE (flags); i++)
    {
      const struct flag *f = &flags[i];
      const char *text = *(const char *const *)(const void *)((const char *)o + f->text);

      if (text == NULL)
        continue;
      if (parse_flag (f->kind, text, base + f->value) < 0)
        return error_set (err, -EINVAL, "update: --%s: %s is no such number", f->name,
                          str_quote (text, quoted));
      *(bool *)(void *)(base + f->has) = *(bool *)(void *)(base + f->part) = *ret_any = true;
    }
  ret->cpu.cpus = (char *)o->cpuset_cpus;
  ret->cpu.mems = (char *)o->cpuset_mems;
  ret->has_cpu |= o->cpuset_cpus != NULL || o->cpuset_mems != NULL;
  *ret_any |= o->cpuset_cpus != NULL || o->cpuset_mems != NULL || o->l3_cache_schema != NULL
              || o->mem_bw_schema != NULL;
  return 0;
}

/* Flags and a document together would leave open which of them holds.  */
static int what_is_asked (const struct update_options *o, struct judged_update *u,
                          struct flag_resources *given, struct oci_resources *from_flags,
                          const struct oci_resources **ret, struct error *err)
{
  struct oci_resources *document = NULL;
  bool any = false;
  int r = parse_flags (o, given, &any, err);

  if (r < 0)
    return r;
  if (any == (o->resources != NULL))
    return error_set (err, -EINVAL,
                      any ? "update: --resources can't be combined with other options"
                          : "update: nothing to change: give --resources or a limit");
  if (o->resources != NULL)
    {
      r = update_read (u, o->resources, &document, err);
      *ret = document;
      return r;
    }
  *from_flags = (struct oci_resources){
    .memory = given->has_memory ? &given->memory : NULL,
    .cpu = given->has_cpu ? &given->cpu : NULL,
    .pids = given->has_pids ? &given->pids : NULL,
    .block_io = given->has_block_io ? &given->block_io : NULL,
  };
  *ret = from_flags;
  return 0;
}

static bool only_rdt (const struct oci_resources *from_flags, const struct oci_resources *asked)
{
  return asked == from_flags && asked->memory == NULL && asked->cpu == NULL && asked->pids == NULL
         && asked->block_io == NULL;
}

/* The lines for the resctrl group.  -EINVAL for one that is none.  */
static int rdt_lines (const struct update_options *o, char **lines, size_t *len, struct error *err)
{
  const struct
  {
    const char *flag;
    const char *text;
    const char *resource;
  } schemas[] = {
    { "l3-cache-schema", o->l3_cache_schema, "L3" },
    { "mem-bw-schema", o->mem_bw_schema, "MB" },
  };
  char quoted[STR_QUOTE_MAX];

  *len = 0;
  for (size_t i = 0; i < ARRAY_SIZE (schemas); i++)
    {
      if (schemas[i].text == NULL)
        continue;
      if (!str_has_prefix (schemas[i].text, schemas[i].resource)
          || strchr (schemas[i].text, ':') == NULL || strchr (schemas[i].text, '\n') != NULL)
        return error_set (err, -EINVAL, "update: --%s: %s is not a line such as %s:0=f",
                          schemas[i].flag, str_quote (schemas[i].text, quoted),
                          schemas[i].resource);
      lines[(*len)++] = (char *)(uintptr_t)schemas[i].text;
    }
  return 0;
}

static int run_update (const struct invocation *in, struct error *err)
{
  cleanup_judged_update struct judged_update u = JUDGED_UPDATE_INIT;
  struct flag_resources given = { 0 };
  struct oci_resources from_flags = { 0 };
  const struct oci_resources *asked = NULL;
  char *lines[2];
  size_t lines_len = 0;
  int r = update_prepare (in->global, &u, err);

  if (r == 0)
    r = rdt_lines (in->values, lines, &lines_len, err);
  if (r == 0)
    r = what_is_asked (in->values, &u, &given, &from_flags, &asked, err);
  if (r == 0)
    r = update_judge (in->global, in->argv[0], asked, &u, err);
  if (r < 0)
    return r;
  if (lines_len > 0 && !policy_admit_rdt_update (u.policy, &u.findings))
    u.denied = true;
  if (u.denied)
    {
      const char *line = policy_denial_line (u.policy, &u.findings, u.arena);
      return error_set (err, -EPERM, "%s", line ? line : "denied; out of memory for the reasons");
    }
  if (lines_len > 0)
    r = container_update_rdt (&u.container, lines, lines_len, err);
  /* With nothing else asked for there is nothing to write to a cgroup.  */
  return r < 0 || only_rdt (&from_flags, asked)
             ? r
             : container_update (&u.container, u.admission.change, u.admission.result, err);
}

const struct command command_update = {
  .name = "update",
  .arguments = "ID",
  .summary = "change the limits of a container",
  .options = rows,
  .values_size = sizeof (struct update_options),
  .min_args = 1,
  .max_args = 1,
  .failure = 1,
  .run = run_update,
};
