/* SPDX-License-Identifier: Apache-2.0 */
/* Rules seccomp.*: there is a profile, it refuses by default, and the built-in baseline stands
   before it.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* Default actions that let a system call through, or leave it to somebody else.  */
static const char *const open_actions[] = { "SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_TRACE",
                                            "SCMP_ACT_NOTIFY" };

/* Flags that take nothing away from the filter.  */
static const char *const harmless_flags[] = { "SECCOMP_FILTER_FLAG_LOG",
                                              "SECCOMP_FILTER_FLAG_TSYNC" };

static bool among (const char *const *list, size_t len, const char *word)
{
  for (size_t i = 0; i < len; i++)
    if (str_equal (list[i], word))
      return true;
  return false;
}

static void check_missing (struct evaluation *ev)
{
  struct tightening t = {
    .rule = RULE_SECCOMP_MISSING,
    .pointer = "/linux/seccomp",
    .old = "null",
    .new = "\"builtin\"",
    .fix = "remove --security-opt seccomp=unconfined (Kubernetes: seccompProfile: type: "
           "RuntimeDefault)",
  };

  if (ev->config->linux->seccomp != NULL || ev->admission->builtin_seccomp)
    return;
  if (ev_tighten (ev, &t, "no seccomp profile: every system call would be open"))
    ev->admission->builtin_seccomp = true;
}

static void check_default_action (struct evaluation *ev, const struct oci_seccomp *seccomp)
{
  struct finding *f;

  if (!among (open_actions, ARRAY_SIZE (open_actions), seccomp->default_action))
    return;
  f = ev_report (ev, RULE_SECCOMP_ALLOW_ALL, ACTION_REJECT, "/linux/seccomp/defaultAction",
                 "the seccomp profile lets through what it doesn't name (%s)",
                 seccomp->default_action);
  ev_fix (ev, f, "use a profile with defaultAction SCMP_ACT_ERRNO, or the engine's own");
}

static void check_notify (struct evaluation *ev, const struct oci_seccomp *seccomp)
{
  struct finding *f = NULL;

  if (seccomp->listener_path != NULL)
    f = ev_report (ev, RULE_SECCOMP_NOTIFY, ACTION_REJECT, "/linux/seccomp/listenerPath",
                   "a seccomp listener outside would decide on system calls");
  ev_fix (ev, f, "remove listenerPath from the profile");
  if (seccomp->listener_metadata != NULL)
    ev_report (ev, RULE_SECCOMP_NOTIFY, ACTION_REJECT, "/linux/seccomp/listenerMetadata",
               "the profile has data for a seccomp listener");
  for (size_t i = 0; i < seccomp->syscalls_len; i++)
    if (str_equal (seccomp->syscalls[i].action, "SCMP_ACT_NOTIFY"))
      ev_report (ev, RULE_SECCOMP_NOTIFY, ACTION_REJECT,
                 ev_printf (ev, "/linux/seccomp/syscalls/%zu/action", i),
                 "the profile leaves system calls to a listener (SCMP_ACT_NOTIFY)");
}

static void check_flags (struct evaluation *ev, struct oci_seccomp *seccomp)
{
  char **kept = ev_alloc (ev, seccomp->flags_len + 1, sizeof *kept);
  size_t len = 0;

  for (size_t i = 0; kept != NULL && i < seccomp->flags_len; i++)
    if (among (harmless_flags, ARRAY_SIZE (harmless_flags), seccomp->flags[i]))
      kept[len++] = seccomp->flags[i];
  if (kept == NULL || len == seccomp->flags_len)
    return;

  struct tightening t = {
    .rule = RULE_SECCOMP_FLAG,
    .pointer = "/linux/seccomp/flags",
    .old = ev_json_strings (ev, seccomp->flags, seccomp->flags_len),
    .new = ev_json_strings (ev, kept, len),
    .fix = "remove SECCOMP_FILTER_FLAG_SPEC_ALLOW and its like from the profile",
  };
  if (ev_tighten (ev, &t, "a flag of the seccomp profile weakens it"))
    {
      seccomp->flags = kept;
      seccomp->flags_len = len;
    }
}

/* Groups of the baseline that grants open.  */
static void list_allowed (struct evaluation *ev)
{
  const struct policy_file *file = ev->policy->effective;
  char **names = ev_alloc (ev, file->grants_len + 1, sizeof *names);
  size_t len = 0;

  for (size_t i = 0; names != NULL && i < file->grants_len; i++)
    {
      struct grant_query query = { .kind = "syscall", .name = file->grants[i].name };

      if (str_equal (file->grants[i].kind, "syscall") && query.name != NULL
          && !strings_contain (names, len, query.name)
          && grant_next (ev->policy, &query, NULL) != NULL)
        names[len++] = file->grants[i].name;
    }
  ev->admission->baseline_allowed = names;
  ev->admission->baseline_allowed_len = len;
}

static void check_baseline (struct evaluation *ev)
{
  struct tightening t = {
    .rule = RULE_SECCOMP_BASELINE,
    .pointer = "/linux/seccomp",
    .old = "null",
    .new = "\"baseline\"",
    .fix = "leave seccomp.baseline on",
  };

  if (ev->admission->baseline)
    return;
  if (!ev_tighten (ev, &t,
                   "system calls that reach far into the kernel are refused before the "
                   "profile is asked"))
    return;
  ev->admission->baseline = true;
  list_allowed (ev);
}

void check_seccomp (struct evaluation *ev)
{
  struct oci_seccomp *seccomp = ev->config->linux->seccomp;

  check_missing (ev);
  if (seccomp != NULL)
    {
      check_default_action (ev, seccomp);
      check_notify (ev, seccomp);
      check_flags (ev, seccomp);
    }
  check_baseline (ev);
}
