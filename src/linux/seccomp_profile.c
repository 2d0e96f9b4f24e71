/* SPDX-License-Identifier: Apache-2.0 */
/* linux.seccomp of the configuration (config-linux.md, Seccomp) as a program that libseccomp
   compiles.  Runs in the parent; needs no privilege.  */
#include <assert.h>
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "linux/seccomp_internal.h"

#define MAX_ERRNO 4095 /* what the kernel can return */

static_assert (SCMP_ACT_ALLOW == SECCOMP_RET_ALLOW && SCMP_ACT_ERRNO (1) == (SECCOMP_RET_ERRNO | 1)
                   && SCMP_ACT_KILL_PROCESS == SECCOMP_RET_KILL_PROCESS,
               "libseccomp's actions are the kernel's");
static_assert (SCMP_ARCH_X86_64 == AUDIT_ARCH_X86_64 && SCMP_ARCH_X86 == AUDIT_ARCH_I386
                   && SCMP_ARCH_AARCH64 == AUDIT_ARCH_AARCH64 && SCMP_ARCH_ARM == AUDIT_ARCH_ARM,
               "libseccomp's architectures are the kernel's, but for x32");

/* ---- Words.  spec/seccomp_names.c has the same ones without their meaning; a unit test keeps the
   two in step.  */

static const struct
{
  const char *name;
  uint32_t value;
  bool takes_errno;
} actions[] = {
  { "SCMP_ACT_KILL", SCMP_ACT_KILL_THREAD, false },
  { "SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS, false },
  { "SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD, false },
  { "SCMP_ACT_TRAP", SCMP_ACT_TRAP, false },
  { "SCMP_ACT_ERRNO", SCMP_ACT_ERRNO (0), true },
  { "SCMP_ACT_TRACE", SCMP_ACT_TRACE (0), true },
  { "SCMP_ACT_ALLOW", SCMP_ACT_ALLOW, false },
  { "SCMP_ACT_LOG", SCMP_ACT_LOG, false },
  { "SCMP_ACT_NOTIFY", SCMP_ACT_NOTIFY, false },
};

static const struct
{
  const char *name;
  enum scmp_compare value;
} operators[] = {
  { "SCMP_CMP_NE", SCMP_CMP_NE },
  { "SCMP_CMP_LT", SCMP_CMP_LT },
  { "SCMP_CMP_LE", SCMP_CMP_LE },
  { "SCMP_CMP_EQ", SCMP_CMP_EQ },
  { "SCMP_CMP_GE", SCMP_CMP_GE },
  { "SCMP_CMP_GT", SCMP_CMP_GT },
  { "SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ },
};

static const struct
{
  const char *name;
  unsigned value;
} flags[] = {
  { "SECCOMP_FILTER_FLAG_TSYNC", SECCOMP_FILTER_FLAG_TSYNC },
  { "SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG },
  { "SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW },
  { "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", 1u << 5 } /* Linux 5.19 */,
};

/* ABI is -1 for what neither machine can run.  Such a word is known and adds nothing: no process
   with that architecture will ever meet the filter.  */
static const struct
{
  const char *name;
  int abi;
} architectures[] = {
  { "SCMP_ARCH_X86_64", SECCOMP_ABI_X86_64 },
  { "SCMP_ARCH_X86", SECCOMP_ABI_I386 },
  { "SCMP_ARCH_AARCH64", SECCOMP_ABI_ARM64 },
  { "SCMP_ARCH_ARM", SECCOMP_ABI_ARM },
  { "SCMP_ARCH_X32", SECCOMP_ABIS },
  { "SCMP_ARCH_MIPS", -1 },
  { "SCMP_ARCH_MIPS64", -1 },
  { "SCMP_ARCH_MIPS64N32", -1 },
  { "SCMP_ARCH_MIPSEL", -1 },
  { "SCMP_ARCH_MIPSEL64", -1 },
  { "SCMP_ARCH_MIPSEL64N32", -1 },
  { "SCMP_ARCH_PPC", -1 },
  { "SCMP_ARCH_PPC64", -1 },
  { "SCMP_ARCH_PPC64LE", -1 },
  { "SCMP_ARCH_S390", -1 },
  { "SCMP_ARCH_S390X", -1 },
  { "SCMP_ARCH_PARISC", -1 },
  { "SCMP_ARCH_PARISC64", -1 },
  { "SCMP_ARCH_RISCV64", -1 },
  { "SCMP_ARCH_LOONGARCH64", -1 },
  { "SCMP_ARCH_M68K", -1 },
  { "SCMP_ARCH_SH", -1 },
  { "SCMP_ARCH_SHEB", -1 },
};

/* The index of NAME in TABLE (whose entries begin with their name), or its length.  */
#define TABLE_INDEX(table, word)                                                                   \
  ({                                                                                               \
    size_t _i = 0;                                                                                 \
    while (_i < ARRAY_SIZE (table) && !str_equal ((table)[_i].name, (word)))                       \
      _i++;                                                                                        \
    _i;                                                                                            \
  })

/* ---- Where in the configuration a word stands.  */

struct site
{
  char text[80];
};

static struct site site_of_rule (size_t rule, const char *field)
{
  struct site site;
  snprintf (site.text, sizeof site.text, "linux.seccomp.syscalls[%zu]%s", rule, field);
  return site;
}

static struct site site_of_arg (size_t rule, size_t arg, const char *field)
{
  struct site site;
  snprintf (site.text, sizeof site.text, "linux.seccomp.syscalls[%zu].args[%zu]%s", rule, arg,
            field);
  return site;
}

static int unknown_word (struct error *err, const char *where, const char *what, const char *word)
{
  char quoted[STR_QUOTE_MAX];
  if (word == NULL)
    return error_set (err, -EINVAL, "%s: missing", where);
  return error_set (err, -EINVAL, "%s: unknown %s \"%s\"", where, what, str_quote (word, quoted));
}

/* ---- Actions */

static int action_value (const char *action, const char *where, bool has_errno, uint32_t errno_ret,
                         const char *where_errno, uint32_t *ret, struct error *err)
{
  size_t i = TABLE_INDEX (actions, action);
  if (i == ARRAY_SIZE (actions))
    return unknown_word (err, where, "action", action);
  if (!actions[i].takes_errno)
    {
      if (has_errno)
        return error_set (err, -EINVAL, "%s: %s returns no errno", where_errno, action);
      *ret = actions[i].value;
      return 0;
    }
  if (has_errno && errno_ret > MAX_ERRNO)
    return error_set (err, -EINVAL, "%s: %u is no errno, the largest is %d", where_errno, errno_ret,
                      MAX_ERRNO);
  *ret = actions[i].value | (has_errno ? errno_ret : EPERM);
  return 0;
}

int seccomp_default_action (const struct oci_seccomp *profile, uint32_t *ret, struct error *err)
{
  return action_value (profile->default_action, "linux.seccomp.defaultAction",
                       profile->has_default_errno_ret, profile->default_errno_ret,
                       "linux.seccomp.defaultErrnoRet", ret, err);
}

int seccomp_rule_action (const struct oci_seccomp *profile, size_t i, uint32_t *ret,
                         struct error *err)
{
  const struct oci_seccomp_syscall *rule = &profile->syscalls[i];
  return action_value (rule->action, site_of_rule (i, ".action").text, rule->has_errno_ret,
                       rule->errno_ret, site_of_rule (i, ".errnoRet").text, ret, err);
}

/* ---- Architectures and flags */

static int add_architecture (struct seccomp_abi_set *set, size_t index, const char *word,
                             struct error *err)
{
  size_t i = TABLE_INDEX (architectures, word);
  char where[80];
  snprintf (where, sizeof where, "linux.seccomp.architectures[%zu]", index);
  if (i == ARRAY_SIZE (architectures))
    return unknown_word (err, where, "architecture", word);
  for (size_t j = 0; j < ARRAY_SIZE (SECCOMP_MACHINE->abis); j++)
    if (architectures[i].abi == (int)SECCOMP_MACHINE->abis[j])
      set->abis |= 1u << SECCOMP_MACHINE->abis[j];
  if (architectures[i].abi == SECCOMP_ABIS)
    set->x32 = SECCOMP_MACHINE->x32;
  return 0;
}

int seccomp_profile_flags (const struct oci_seccomp *profile, unsigned *ret, struct error *err)
{
  unsigned all = 0;
  for (size_t i = 0; i < profile->flags_len; i++)
    {
      size_t which = TABLE_INDEX (flags, profile->flags[i]);
      char where[80];
      snprintf (where, sizeof where, "linux.seccomp.flags[%zu]", i);
      if (which == ARRAY_SIZE (flags))
        return unknown_word (err, where, "flag", profile->flags[i]);
      all |= flags[which].value;
    }
  *ret = all;
  return 0;
}

/* ---- Arguments */

static int check_arg (const struct oci_seccomp *profile, size_t rule, size_t arg, struct error *err)
{
  const struct oci_seccomp_arg *a = &profile->syscalls[rule].args[arg];
  if (!a->has_index)
    return unknown_word (err, site_of_arg (rule, arg, ".index").text, "index", NULL);
  if (a->index > 5)
    return error_set (err, -EINVAL, "%s: expected an integer from 0 to 5, not %u",
                      site_of_arg (rule, arg, ".index").text, a->index);
  if (!a->has_value)
    return unknown_word (err, site_of_arg (rule, arg, ".value").text, "value", NULL);
  if (TABLE_INDEX (operators, a->op) == ARRAY_SIZE (operators))
    return unknown_word (err, site_of_arg (rule, arg, ".op").text, "operator", a->op);
  return 0;
}

static struct scmp_arg_cmp comparison (const struct oci_seccomp_arg *a)
{
  /* For MASKED_EQ libseccomp takes mask and datum, which are the spec's value and valueTwo.  */
  return (struct scmp_arg_cmp){ .arg = a->index,
                                .op = operators[TABLE_INDEX (operators, a->op)].value,
                                .datum_a = a->value,
                                .datum_b = a->value_two };
}

static bool repeats_index (const struct oci_seccomp_syscall *rule)
{
  unsigned seen = 0;
  for (size_t i = 0; i < rule->args_len; i++)
    {
      if (seen & (1u << rule->args[i].index))
        return true;
      seen |= 1u << rule->args[i].index;
    }
  return false;
}

int seccomp_profile_check (const struct oci_seccomp *profile, bool baseline,
                           struct seccomp_abi_set *ret, struct error *err)
{
  /* The native ABI is always covered, as by every runtime: a list without it would kill init.  */
  struct seccomp_abi_set set = { .abis = 1u << SECCOMP_MACHINE->abis[0] };
  uint32_t action;
  unsigned all_flags;
  int r = seccomp_default_action (profile, &action, err);
  if (r == 0)
    r = seccomp_profile_flags (profile, &all_flags, err);
  for (size_t i = 0; r == 0 && i < profile->architectures_len; i++)
    r = add_architecture (&set, i, profile->architectures[i], err);
  for (size_t i = 0; r == 0 && i < profile->syscalls_len; i++)
    {
      r = seccomp_rule_action (profile, i, &action, err);
      if (r == 0 && profile->syscalls[i].names_len == 0)
        r = error_set (err, -EINVAL, "%s: empty or missing", site_of_rule (i, ".names").text);
      for (size_t j = 0; r == 0 && j < profile->syscalls[i].args_len; j++)
        r = check_arg (profile, i, j, err);
    }
  if (r < 0)
    return r;
  set.x32 = set.x32 && !baseline;
  *ret = set;
  return 0;
}

/* ---- libseccomp */

static void release_filter (scmp_filter_ctx *filter)
{
  if (*filter != NULL)
    seccomp_release (*filter);
}

/* Two conditions on one argument can't both be put into one rule of libseccomp.  Every runtime
   reads such a list as alternatives, and profiles are written for that.  */
static int add_call (scmp_filter_ctx filter, uint32_t action, int nr,
                     const struct oci_seccomp_syscall *rule)
{
  struct scmp_arg_cmp all[6];
  int r = 0;
  if (repeats_index (rule))
    {
      for (size_t i = 0; r == 0 && i < rule->args_len; i++)
        {
          struct scmp_arg_cmp one = comparison (&rule->args[i]);
          r = seccomp_rule_add_array (filter, action, nr, 1, &one);
        }
      return r;
    }
  for (size_t i = 0; i < rule->args_len; i++)
    all[i] = comparison (&rule->args[i]);
  return seccomp_rule_add_array (filter, action, nr, (unsigned)rule->args_len, all);
}

static int add_rule (scmp_filter_ctx filter, const struct oci_seccomp *profile, size_t i,
                     uint32_t fallback, struct error *err)
{
  const struct oci_seccomp_syscall *rule = &profile->syscalls[i];
  uint32_t action;
  int r = seccomp_rule_action (profile, i, &action, err);
  /* libseccomp refuses a rule that says what the default says.  */
  if (r < 0 || action == fallback)
    return r;
  for (size_t j = 0; j < rule->names_len; j++)
    {
      char quoted[STR_QUOTE_MAX];
      int nr = seccomp_syscall_resolve_name (rule->names[j]);
      /* Profiles are written for many kernels and architectures: a name that neither libseccomp nor
         seccomp_newer.c knows has no number that it could be matched by.  */
      if (nr == __NR_SCMP_ERROR)
        continue;
      r = add_call (filter, action, nr, rule);
      if (r == -EEXIST)
        return error_set (err, r, "%s: %s with these arguments has another action already",
                          site_of_rule (i, "").text, str_quote (rule->names[j], quoted));
      if (r < 0)
        return error_errno (err, -r, "%s: libseccomp refuses the rule for %s",
                            site_of_rule (i, "").text, str_quote (rule->names[j], quoted));
    }
  return 0;
}

static int add_abis (scmp_filter_ctx filter, const struct seccomp_abi_set *set, struct error *err)
{
  int r = 0;
  for (int abi = 0; r == 0 && abi < SECCOMP_ABIS; abi++)
    if ((set->abis & (1u << abi)) && abi != (int)SECCOMP_MACHINE->abis[0])
      r = seccomp_arch_add (filter, seccomp_abi_audit[abi]);
  if (r == 0 && set->x32)
    r = seccomp_arch_add (filter, SCMP_ARCH_X32);
  if (r < 0)
    return error_errno (err, -r, "linux.seccomp.architectures: libseccomp refuses one");
  return 0;
}

/* libseccomp writes to a descriptor only.  A memfd, for a pipe would block on a large program.  */
static int export(scmp_filter_ctx filter, struct sock_filter **ret, size_t *ret_len,
                  struct error *err)
{
  cleanup_free char *bytes = NULL;
  size_t size;
#ifdef MFD_NOEXEC_SEAL
  const unsigned noexec = MFD_NOEXEC_SEAL;
#else
  const unsigned noexec = 0x0008u;
#endif
  cleanup_close int fd = memfd_create ("seccomp", MFD_CLOEXEC | noexec);
  if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
    fd = memfd_create ("seccomp", MFD_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "seccomp: create a memfd for the program");
  int r = seccomp_export_bpf (filter, fd);
  if (r < 0)
    return error_errno (err, -r, "linux.seccomp: libseccomp can't compile the profile");
  if (lseek (fd, 0, SEEK_SET) < 0)
    return error_errno (err, errno, "seccomp: rewind the memfd");
  r = fd_read_all (fd, SIZE_MAX / 2, "the seccomp program", &bytes, &size, err);
  if (r < 0)
    return r;
  if (size == 0 || size % sizeof (struct sock_filter) != 0)
    return error_set (err, -EIO, "linux.seccomp: libseccomp wrote a program of %zu bytes", size);
  *ret = (struct sock_filter *)(void *)steal_ptr (&bytes);
  *ret_len = size / sizeof (struct sock_filter);
  return 0;
}

int seccomp_profile_export (const struct oci_seccomp *profile, const struct seccomp_abi_set *set,
                            struct sock_filter **ret, size_t *ret_len, struct error *err)
{
  __attribute__ ((cleanup (release_filter))) scmp_filter_ctx filter = NULL;
  uint32_t fallback;
  int r = seccomp_default_action (profile, &fallback, err);
  if (r < 0)
    return r;
  filter = seccomp_init (fallback);
  if (filter == NULL)
    return error_set (err, -EINVAL,
                      "linux.seccomp.defaultAction: libseccomp or the kernel can't do %s",
                      profile->default_action);
  r = add_abis (filter, set, err);
  for (size_t i = 0; r == 0 && i < profile->syscalls_len; i++)
    r = add_rule (filter, profile, i, fallback, err);
  /* No binary tree (SCMP_FLTATR_CTL_OPTIMIZE): it doubles libseccomp's time and makes the program
     longer, and calls that are allowed whatever their arguments don't run it at all on kernels
     that we know.  */
  return r < 0 ? r : export(filter, ret, ret_len, err);
}
