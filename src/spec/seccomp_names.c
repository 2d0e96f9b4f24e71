/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of words, see seccomp_names.h.  Pure code.  */
#include "spec/seccomp_names.h"

#include <stddef.h>

#include "base/str.h"

const char *const seccomp_actions_known[] = {
  "SCMP_ACT_KILL",        "SCMP_ACT_KILL_PROCESS",
  "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP",
  "SCMP_ACT_ERRNO",       "SCMP_ACT_TRACE",
  "SCMP_ACT_ALLOW",       "SCMP_ACT_LOG",
  "SCMP_ACT_NOTIFY",      NULL,
};

const char *const seccomp_actions_supported[] = {
  "SCMP_ACT_KILL",        "SCMP_ACT_KILL_PROCESS",
  "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP",
  "SCMP_ACT_ERRNO",       "SCMP_ACT_TRACE",
  "SCMP_ACT_ALLOW",       "SCMP_ACT_LOG",
  "SCMP_ACT_NOTIFY",      NULL,
};

const char *const seccomp_operators[] = {
  "SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE",        "SCMP_CMP_EQ",
  "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ", NULL,
};

const char *const seccomp_architectures[] = {
  "SCMP_ARCH_X86",     "SCMP_ARCH_X86_64",   "SCMP_ARCH_X32",         "SCMP_ARCH_ARM",
  "SCMP_ARCH_AARCH64", "SCMP_ARCH_MIPS",     "SCMP_ARCH_MIPS64",      "SCMP_ARCH_MIPS64N32",
  "SCMP_ARCH_MIPSEL",  "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",
  "SCMP_ARCH_PPC64",   "SCMP_ARCH_PPC64LE",  "SCMP_ARCH_S390",        "SCMP_ARCH_S390X",
  "SCMP_ARCH_PARISC",  "SCMP_ARCH_PARISC64", "SCMP_ARCH_RISCV64",     "SCMP_ARCH_LOONGARCH64",
  "SCMP_ARCH_M68K",    "SCMP_ARCH_SH",       "SCMP_ARCH_SHEB",        NULL,
};

const char *const seccomp_flags_known[] = {
  "SECCOMP_FILTER_FLAG_TSYNC",
  "SECCOMP_FILTER_FLAG_LOG",
  "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
  "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
  NULL,
};

const char *const seccomp_flags_supported[] = {
  "SECCOMP_FILTER_FLAG_TSYNC",
  "SECCOMP_FILTER_FLAG_LOG",
  "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
  "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
  NULL,
};

const char *const seccomp_groups[] = {
  "userns", "io_uring", "perf_event_open", "keyctl", "ptrace_other", "userfaultfd", NULL,
};

bool seccomp_name_in (const char *const *list, const char *name)
{
  if (name == NULL)
    return false;
  for (; *list != NULL; list++)
    if (str_equal (*list, name))
      return true;
  return false;
}
