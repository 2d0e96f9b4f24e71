/* SPDX-License-Identifier: Apache-2.0 */
/* Rules limit.open-files, limit.oom and limit.rlimit: limits of the process itself.  Pure code.  */
#include <string.h>
#include <sys/resource.h>

#include "policy/internal.h"
#include "spec/names.h"

static void check_oom (struct evaluation *ev)
{
  struct oci_process *process = ev->process;
  struct tightening t = {
    .rule = RULE_LIMIT_OOM,
    .pointer = ev_process (ev, "/oomScoreAdj"),
    .old = ev_printf (ev, "%d", process->oom_score_adj),
    .new = "0",
    .fix = "remove the negative --oom-score-adj",
  };

  if (!process->has_oom_score_adj || process->oom_score_adj >= 0)
    return;
  if (process->oom_score_adj == -1000)
    ev_fix (ev,
            ev_report (ev, RULE_LIMIT_OOM, ACTION_REJECT, t.pointer,
                       "the process could never be killed for want of memory"),
            "remove --oom-score-adj -1000 or --oom-kill-disable");
  else if (ev_tighten (ev, &t, "the process would be killed after others when memory is short"))
    process->oom_score_adj = 0;
}

/* The value from which on a limit is refused.  */
static const struct
{
  const char *type;
  uint64_t from;
  const char *what;
} refused[] = {
  { "RLIMIT_RTPRIO", 1, "real-time priorities" },
  { "RLIMIT_NICE", 1, "priorities above other processes" },
  { "RLIMIT_MEMLOCK", UINT64_MAX, "locked memory without limit" },
  { "RLIMIT_MSGQUEUE", UINT64_MAX, "message queues without limit" },
  { "RLIMIT_SIGPENDING", UINT64_MAX, "pending signals without limit" },
};

static void check_rlimit (struct evaluation *ev, const struct oci_rlimit *limit,
                          const char *pointer)
{
  uint64_t most = limit->soft > limit->hard ? limit->soft : limit->hard;
  uint64_t max = ev->policy->values.open_files_max;
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  if (limit->type == NULL || rlimit_number (limit->type) < 0)
    ev_report (ev, RULE_LIMIT_RLIMIT, ACTION_REJECT, pointer, "the resource limit %s is unknown",
               str_quote (limit->type, quoted));
  for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
    if (str_equal (limit->type, refused[i].type) && most >= refused[i].from)
      f = ev_report (ev, RULE_LIMIT_RLIMIT, ACTION_REJECT, pointer, "%s allows %s", limit->type,
                     refused[i].what);
  ev_fix (ev, f, "remove that --ulimit");
  f = NULL;
  if (str_equal (limit->type, "RLIMIT_NOFILE") && most > max)
    f = ev_report (ev, RULE_LIMIT_OPEN_FILES, ACTION_REJECT, pointer,
                   "%llu open files are above the policy's maximum of %llu",
                   (unsigned long long)most, (unsigned long long)max);
  ev_fix (ev, f, "lower --ulimit nofile");
}

static size_t find_rlimit (const struct oci_process *process, const char *type)
{
  size_t at = 0;

  while (at < process->rlimits_len && !str_equal (process->rlimits[at].type, type))
    at++;
  return at;
}

/* Makes LIMIT the process's own, in place of the one of its type, if the policy wants that.  */
static void tighten_rlimit (struct evaluation *ev, enum rule_id rule,
                            const struct oci_rlimit *limit, const char *fix, const char *why)
{
  struct oci_process *process = ev->process;
  size_t len = process->rlimits_len, at = find_rlimit (process, limit->type);
  struct tightening t = {
    .rule = rule,
    .pointer = ev_printf (ev, "%s/rlimits/%zu", ev->process_pointer, at),
    .old = ev_json (ev, &oci_rlimit_type, at < len ? &process->rlimits[at] : NULL),
    .new = ev_json (ev, &oci_rlimit_type, limit),
    .fix = fix,
  };
  struct oci_rlimit *list;

  if (!ev_tighten (ev, &t, "%s", why))
    return;
  list = ev_alloc (ev, len + 1, sizeof *list);
  if (list == NULL)
    return;
  for (size_t i = 0; i < len; i++)
    list[i] = process->rlimits[i];
  list[at] = *limit;
  process->rlimits = list;
  process->rlimits_len = at < len ? len : len + 1;
  process->has_rlimits = true;
}

/* A limit of 0 doesn't stop a core_pattern that pipes into a program of the host, 1 does (core(5)).
 */
static void limit_core (struct evaluation *ev)
{
  const struct oci_process *process = ev->process;
  const struct oci_rlimit core = {
    .type = (char *)"RLIMIT_CORE", .has_soft = true, .soft = 1, .has_hard = true, .hard = 1
  };
  size_t at = find_rlimit (process, core.type);

  if (at == process->rlimits_len || process->rlimits[at].soft != 1
      || process->rlimits[at].hard != 1)
    tighten_rlimit (ev, RULE_LIMIT_RLIMIT, &core, "add --ulimit core=1",
                    "a crash would run the host's core dump handler on the container's data");
}

/* Engines run with limits of their own, which a process without one inherits.  An exec has the
   container's.  */
static void limit_open_files (struct evaluation *ev)
{
  const struct fact_host *host = ev->facts->host;
  uint64_t max = ev->policy->values.open_files_max;
  struct oci_rlimit files = {
    .type = (char *)"RLIMIT_NOFILE", .has_soft = true, .soft = max, .has_hard = true, .hard = max
  };

  if (ev->container != NULL || host == NULL || !host->has_open_files_hard
      || host->open_files_hard <= max
      || find_rlimit (ev->process, files.type) < ev->process->rlimits_len)
    return;
  if (host->open_files_soft < max)
    files.soft = host->open_files_soft;
  tighten_rlimit (ev, RULE_LIMIT_OPEN_FILES, &files,
                  ev_printf (ev, "add --ulimit nofile=%llu", (unsigned long long)max),
                  "the process would inherit a limit of open files above the policy's maximum");
}

void check_rlimits (struct evaluation *ev)
{
  struct oci_process *process = ev->process;

  for (size_t i = 0; i < process->rlimits_len; i++)
    {
      char *pointer = ev_printf (ev, "%s/rlimits/%zu", ev->process_pointer, i);

      check_rlimit (ev, &process->rlimits[i], pointer);
      for (size_t k = 0; k < i; k++)
        if (str_equal (process->rlimits[k].type, process->rlimits[i].type))
          ev_report (ev, RULE_LIMIT_RLIMIT, ACTION_REJECT, pointer,
                     "a resource limit is given twice");
    }
  check_oom (ev);
  limit_core (ev);
  limit_open_files (ev);
}
