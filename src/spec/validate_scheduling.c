/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of process.scheduler, process.ioPriority, process.execCPUAffinity (config.md),
   linux.memoryPolicy and linux.personality (config-linux.md).  Pure, needs no privilege.  */
#include <string.h>

#include "base/number_list.h"
#include "base/str.h"
#include "spec/scheduling_names.h"
#include "spec/validate_checks.h"

enum
{
  DEADLINE = 6,
  CPU_WORDS = 8192 / (8 * sizeof (unsigned long)),
  NODE_WORDS = 1024 / (8 * sizeof (unsigned long))
};

static bool is_list (const char *list, size_t words)
{
  unsigned long bits[CPU_WORDS];

  return number_list_parse (list, bits, words) == 0;
}

/* ---- process.scheduler ---- */

static bool is_realtime (int policy) { return policy == 1 || policy == 2; }

static bool has_nice (int policy) { return policy == 0 || policy == 3; }

/* What the kernel would refuse or, worse, ignore.  */
static const char *scheduler_problem (const struct oci_scheduler *s)
{
  int policy = scheduler_policy_number (s->policy);
  bool times = s->runtime != 0 || s->deadline != 0 || s->period != 0;

  if (is_empty (s->policy))
    return "has no policy";
  if (policy < 0)
    return "names a policy that Linux doesn't have";
  if (s->nice < -20 || s->nice > 19)
    return "has a nice value outside -20 ... 19";
  if (s->nice != 0 && !has_nice (policy))
    return "has a nice value, which is for SCHED_OTHER and SCHED_BATCH only";
  if (is_realtime (policy) && (s->priority < 1 || s->priority > 99))
    return "needs a priority of 1 ... 99";
  if (!is_realtime (policy) && s->priority != 0)
    return "has a priority, which is for SCHED_FIFO and SCHED_RR only";
  if (policy == DEADLINE && (s->runtime == 0 || s->deadline == 0))
    return "needs a runtime and a deadline";
  if (policy != DEADLINE && times)
    return "has a runtime, deadline or period, which are for SCHED_DEADLINE only";
  return NULL;
}

static void check_scheduler (const struct oci_scheduler *s, struct findings *findings)
{
  const char *problem = scheduler_problem (s);
  char quoted[STR_QUOTE_MAX];

  if (problem != NULL)
    reject (findings, "config.invalid", "/process/scheduler", "process.scheduler%s%s %s",
            is_empty (s->policy) ? "" : " ",
            is_empty (s->policy) ? "" : str_quote (s->policy, quoted), problem);
  for (size_t i = 0; i < s->flags_len; i++)
    if (scheduler_flag_number (s->flags[i]) < 0)
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/process/scheduler/flags/%zu", i),
              "scheduler flag \"%s\" is unknown", str_quote (s->flags[i], quoted));
}

/* ---- process.ioPriority ---- */

static void check_io_priority (const struct oci_io_priority *io, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  if (io_class_number (io->class) < 0)
    reject (findings, "config.invalid", "/process/ioPriority/class",
            "I/O class \"%s\" is none of IOPRIO_CLASS_RT, IOPRIO_CLASS_BE, IOPRIO_CLASS_IDLE",
            str_quote (io->class == NULL ? "" : io->class, quoted));
  if (io->priority < 0 || io->priority > 7)
    reject (findings, "config.invalid", "/process/ioPriority/priority",
            "I/O priority %d is not within 0 ... 7", io->priority);
}

/* ---- process.execCPUAffinity ---- */

static void check_affinity (const char *pointer, const char *list, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  if (!is_empty (list) && !is_list (list, CPU_WORDS))
    reject (findings, "config.invalid", pointer, "\"%s\" is no list of processors like 0-3,7",
            str_quote (list, quoted));
}

void validate_scheduling (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;

  if (p == NULL)
    return;
  if (p->scheduler != NULL)
    check_scheduler (p->scheduler, findings);
  if (p->io_priority != NULL)
    check_io_priority (p->io_priority, findings);
  if (p->exec_cpu_affinity == NULL)
    return;
  check_affinity ("/process/execCPUAffinity/initial", p->exec_cpu_affinity->initial, findings);
  check_affinity ("/process/execCPUAffinity/final", p->exec_cpu_affinity->final, findings);
}

/* ---- linux.memoryPolicy ---- */

static void check_memory_flags (const struct oci_memory_policy *m, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];
  int64_t both = memory_flag_number ("MPOL_F_STATIC_NODES");
  int64_t flags = 0;

  both |= memory_flag_number ("MPOL_F_RELATIVE_NODES");
  for (size_t i = 0; i < m->flags_len; i++)
    if (memory_flag_number (m->flags[i]) < 0)
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/memoryPolicy/flags/%zu", i),
              "flag \"%s\" of the memory policy is unknown", str_quote (m->flags[i], quoted));
    else
      flags |= memory_flag_number (m->flags[i]);
  if ((flags & both) == both)
    reject (findings, "config.invalid", "/linux/memoryPolicy/flags",
            "MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other");
}

void validate_memory_policy (const struct oci_config *config, struct findings *findings)
{
  const struct oci_memory_policy *m = config->linux == NULL ? NULL : config->linux->memory_policy;
  char quoted[STR_QUOTE_MAX];

  if (m == NULL)
    return;
  if (memory_mode_number (m->mode) < 0)
    reject (findings, "config.invalid", "/linux/memoryPolicy/mode",
            "mode \"%s\" of the memory policy is unknown",
            str_quote (m->mode == NULL ? "" : m->mode, quoted));
  else if (is_empty (m->nodes) && memory_mode_needs_nodes (m->mode))
    reject (findings, "config.invalid", "/linux/memoryPolicy/nodes",
            "memory policy %s needs a list of nodes", m->mode);
  else if (!is_empty (m->nodes) && memory_mode_refuses_nodes (m->mode))
    reject (findings, "config.invalid", "/linux/memoryPolicy/nodes",
            "memory policy %s takes no nodes", m->mode);
  if (!is_empty (m->nodes) && !is_list (m->nodes, NODE_WORDS))
    reject (findings, "config.invalid", "/linux/memoryPolicy/nodes",
            "\"%s\" is no list of memory nodes like 0-3,7", str_quote (m->nodes, quoted));
  check_memory_flags (m, findings);
}

/* ---- linux.personality ---- */

void validate_personality (const struct oci_config *config, struct findings *findings)
{
  const struct oci_personality *p = config->linux == NULL ? NULL : config->linux->personality;
  char quoted[STR_QUOTE_MAX];

  if (p == NULL)
    return;
  if (personality_number (p->domain) < 0)
    reject (findings, "config.invalid", "/linux/personality/domain",
            "execution domain \"%s\" is neither LINUX nor LINUX32",
            str_quote (p->domain == NULL ? "" : p->domain, quoted));
  /* config-linux.md defines none.  */
  if (p->flags_len > 0)
    reject (findings, "config.unsupported", "/linux/personality/flags",
            "linux.personality.flags is set: the specification defines none");
}
