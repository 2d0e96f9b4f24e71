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

/* A limit of 0 doesn't stop a core_pattern that pipes into a program of the host, 1 does (core(5)).
 */
static void limit_core (struct evaluation *ev)
{
  struct oci_process *process = ev->process;
  struct oci_rlimit core = {
    .type = (char *)"RLIMIT_CORE", .has_soft = true, .soft = 1, .has_hard = true, .hard = 1
  };
  size_t len = process->rlimits_len;
  size_t at = 0;
  struct oci_rlimit *list;

  while (at < len && !str_equal (process->rlimits[at].type, "RLIMIT_CORE"))
    at++;
  if (at < len && process->rlimits[at].soft == 1 && process->rlimits[at].hard == 1)
    return;

  struct tightening t = {
    .rule = RULE_LIMIT_RLIMIT,
    .pointer = ev_printf (ev, "%s/rlimits/%zu", ev->process_pointer, at),
    .old = ev_json (ev, &oci_rlimit_type, at < len ? &process->rlimits[at] : NULL),
    .new = ev_json (ev, &oci_rlimit_type, &core),
    .fix = "add --ulimit core=1",
  };
  if (!ev_tighten (ev, &t,
                   "a crash would run the host's core dump handler on the container's data"))
    return;
  list = ev_alloc (ev, len + 1, sizeof *list);
  if (list == NULL)
    return;
  for (size_t i = 0; i < len; i++)
    list[i] = process->rlimits[i];
  list[at] = core;
  process->rlimits = list;
  process->rlimits_len = at < len ? len : len + 1;
  process->has_rlimits = true;
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
}
