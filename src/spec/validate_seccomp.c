/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `linux.seccomp` (config-linux.md, "Seccomp").  Names of system calls aren't
   checked: a profile names those of newer kernels, too.  Pure, needs no privilege.  */
#include <errno.h>

#include "base/str.h"
#include "spec/seccomp_names.h"
#include "spec/validate_checks.h"

static const char *const actions_with_errno[] = { "SCMP_ACT_ERRNO", "SCMP_ACT_TRACE", NULL };

static void check_action (const char *action, bool has_errno, uint32_t number, const char *pointer,
                          struct findings *findings)
{
  enum
  {
    ERRNO_MAX = 4095 /* MAX_ERRNO: the kernel cuts a larger one down to it */
  };
  char quoted[STR_QUOTE_MAX];

  str_quote (action == NULL ? "" : action, quoted);
  if (!word_in (action, seccomp_actions_supported))
    reject (findings, "config.invalid", pointer, "seccomp action \"%s\" is unknown", quoted);
  else if (has_errno && !word_in (action, actions_with_errno))
    reject (findings, "config.invalid", pointer, "seccomp action %s takes no errno", quoted);
  else if (has_errno && number > ERRNO_MAX)
    reject (findings, "config.invalid", pointer, "%u is no errno", number);
}

static void check_words (const char *name, char **words, size_t len, const char *const *known,
                         struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < len; i++)
    if (!word_in (words[i], known))
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/seccomp/%s/%zu", name, i),
              "\"%s\" is not known among seccomp %s", str_quote (words[i], quoted), name);
}

/* config-linux.md: who answers for SCMP_ACT_NOTIFY.  */
static void check_listener (const struct oci_seccomp *s, struct findings *findings)
{
  bool notifies = false;

  for (size_t i = 0; i < s->syscalls_len; i++)
    notifies |= str_equal (s->syscalls[i].action, "SCMP_ACT_NOTIFY");
  if (str_equal (s->default_action, "SCMP_ACT_NOTIFY"))
    reject (findings, "config.invalid", "/linux/seccomp/defaultAction",
            "SCMP_ACT_NOTIFY for every system call: nobody could start the process");
  if (notifies && is_empty (s->listener_path))
    reject (findings, "config.invalid", "/linux/seccomp/listenerPath",
            "SCMP_ACT_NOTIFY needs a listenerPath: who would answer?");
  if (!is_empty (s->listener_path) && !is_absolute (s->listener_path))
    reject (findings, "config.invalid", "/linux/seccomp/listenerPath",
            "linux.seccomp.listenerPath is not an absolute path");
  if (!is_empty (s->listener_metadata) && is_empty (s->listener_path))
    reject (findings, "config.invalid", "/linux/seccomp/listenerMetadata",
            "linux.seccomp.listenerMetadata is given without a listenerPath");
  for (size_t i = 0; !notifies && i < s->flags_len; i++)
    if (str_equal (s->flags[i], "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"))
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/seccomp/flags/%zu", i),
              "%s is for SCMP_ACT_NOTIFY, which no rule has", s->flags[i]);
}

static void check_argument (const struct oci_seccomp_arg *a, const char *pointer,
                            struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  if (!a->has_index || a->index > 5)
    reject (findings, "config.invalid", pointer,
            "the index of a system call's argument must be from 0 to 5");
  if (!a->has_value)
    reject (findings, "config.invalid", pointer, "a condition on an argument needs a value");
  if (!word_in (a->op, seccomp_operators))
    reject (findings, "config.invalid", pointer, "seccomp operator \"%s\" is unknown",
            str_quote (a->op == NULL ? "" : a->op, quoted));
}

static void check_rule (const struct oci_seccomp_syscall *s, size_t i, struct findings *findings)
{
  char *pointer = pointer_printf (findings->arena, "/linux/seccomp/syscalls/%zu", i);

  check_action (s->action, s->has_errno_ret, s->errno_ret, pointer, findings);
  if (s->names_len == 0)
    reject (findings, "config.invalid", pointer, "seccomp rule %zu names no system call", i);
  for (size_t k = 0; k < s->names_len; k++)
    if (is_empty (s->names[k]))
      reject (findings, "config.invalid", pointer, "seccomp rule %zu has an empty name", i);
  for (size_t k = 0; k < s->args_len; k++)
    check_argument (&s->args[k],
                    pointer_printf (findings->arena, "/linux/seccomp/syscalls/%zu/args/%zu", i, k),
                    findings);
}

void validate_seccomp (const struct oci_config *config, struct findings *findings)
{
  const struct oci_seccomp *s = config->linux == NULL ? NULL : config->linux->seccomp;

  if (s == NULL)
    return;
  check_action (s->default_action, s->has_default_errno_ret, s->default_errno_ret,
                "/linux/seccomp/defaultAction", findings);
  check_words ("architectures", s->architectures, s->architectures_len, seccomp_architectures,
               findings);
  check_words ("flags", s->flags, s->flags_len, seccomp_flags_known, findings);
  check_listener (s, findings);
  for (size_t i = 0; i < s->syscalls_len; i++)
    check_rule (&s->syscalls[i], i, findings);
}
