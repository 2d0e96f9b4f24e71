/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/seccomp.c, seccomp_profile.c, seccomp_newer.c, seccomp_default.c and
   src/spec/seccomp_names.c.  No privilege needed.  */
#include "seccomp_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "spec/seccomp_names.h"

/* ---- Profiles.  Those with numbers of this machine's libseccomp run on x86_64 only.  */

#define STRINGS(...)                                                                               \
  (char *[]) { __VA_ARGS__ }
#define N(s) (char *)(uintptr_t)(s)

static struct oci_seccomp_syscall rule (const char *action, const char *name)
{
  static char *names[16];
  static size_t used;
  char **slot = &names[used++ % ARRAY_SIZE (names)];
  *slot = N (name);
  return (struct oci_seccomp_syscall){
    .has_names = true, .names = slot, .names_len = 1, .action = N (action)
  };
}

static struct oci_seccomp_arg argument (uint32_t index, const char *op, uint64_t value,
                                        uint64_t value_two)
{
  return (struct oci_seccomp_arg){ .has_index = true,
                                   .index = index,
                                   .has_value = true,
                                   .value = value,
                                   .has_value_two = true,
                                   .value_two = value_two,
                                   .op = N (op) };
}

static void build (const struct oci_seccomp *profile, bool with_baseline,
                   struct seccomp_program *ret)
{
  struct error err = { 0 };
  struct seccomp_request request = { .profile = profile, .baseline = with_baseline };
  if (seccomp_build (&request, ret, &err) != 0)
    fail_msg ("%s", err.message);
}

#ifdef __x86_64__
static void test_actions (void **state)
{
  static const struct
  {
    const char *word;
    bool has_errno;
    uint32_t error, answer;
  } cases[] = {
    { "SCMP_ACT_KILL", false, 0, SECCOMP_RET_KILL_THREAD },
    { "SCMP_ACT_KILL_THREAD", false, 0, SECCOMP_RET_KILL_THREAD },
    { "SCMP_ACT_KILL_PROCESS", false, 0, SECCOMP_RET_KILL_PROCESS },
    { "SCMP_ACT_TRAP", false, 0, SECCOMP_RET_TRAP },
    { "SCMP_ACT_ERRNO", false, 0, ERRNO (EPERM) },
    { "SCMP_ACT_ERRNO", true, 38, ERRNO (38) },
    { "SCMP_ACT_ERRNO", true, 0, ERRNO (0) },
    { "SCMP_ACT_TRACE", true, 7, SECCOMP_RET_TRACE | 7 },
    { "SCMP_ACT_TRACE", false, 0, SECCOMP_RET_TRACE | EPERM },
    { "SCMP_ACT_LOG", false, 0, SECCOMP_RET_LOG },
    { "SCMP_ACT_NOTIFY", false, 0, SECCOMP_RET_USER_NOTIF },
    { "SCMP_ACT_ALLOW", false, 0, SECCOMP_RET_ALLOW },
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    for (int as_default = 0; as_default < 2; as_default++)
      {
        __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
        struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ERRNO", "getpid") };
        struct oci_seccomp profile = { .syscalls = rules, .syscalls_len = 1 };
        rules[0].has_errno_ret = true;
        rules[0].errno_ret = 99;
        profile.default_action = N ("SCMP_ACT_ERRNO");
        profile.has_default_errno_ret = true;
        profile.default_errno_ret = 99;
        if (as_default)
          {
            profile.default_action = N (cases[i].word);
            profile.has_default_errno_ret = cases[i].has_errno;
            profile.default_errno_ret = cases[i].error;
          }
        else
          {
            rules[0].action = N (cases[i].word);
            rules[0].has_errno_ret = cases[i].has_errno;
            rules[0].errno_ret = cases[i].error;
          }
        build (&profile, true, &program);
        assert_int_equal (ask_name (&program, SECCOMP_ABI_X86_64, "getpid", 0, 0, 0),
                          as_default ? ERRNO (99) : cases[i].answer);
        assert_int_equal (ask_name (&program, SECCOMP_ABI_X86_64, "read", 0, 0, 0),
                          as_default ? cases[i].answer : ERRNO (99));
        /* The baseline's answer comes before that of any profile.  */
        assert_int_equal (ask_name (&program, SECCOMP_ABI_X86_64, "mount", 0, 0, 0), ERRNO (EPERM));
        assert_int_equal (ask_name (&program, SECCOMP_ABI_X86_64, "clone3", 0, 0, 0),
                          ERRNO (ENOSYS));
      }
}

static void test_operators (void **state)
{
  static const struct
  {
    const char *op;
    uint64_t value, value_two, arg;
    bool match;
  } cases[] = {
    { "SCMP_CMP_NE", 5, 0, 6, true },
    { "SCMP_CMP_NE", 5, 0, 5, false },
    { "SCMP_CMP_LT", 5, 0, 4, true },
    { "SCMP_CMP_LT", 5, 0, 5, false },
    { "SCMP_CMP_LE", 5, 0, 5, true },
    { "SCMP_CMP_LE", 5, 0, 6, false },
    { "SCMP_CMP_EQ", 5, 0, 5, true },
    { "SCMP_CMP_EQ", 5, 0, 5 | 1ull << 32, false },
    { "SCMP_CMP_GE", 5, 0, 1ull << 40, true },
    { "SCMP_CMP_GE", 5, 0, 4, false },
    { "SCMP_CMP_GT", 5, 0, 6, true },
    { "SCMP_CMP_GT", 5, 0, 5, false },
    { "SCMP_CMP_MASKED_EQ", 0xf0, 0x20, 0x2f, true },
    { "SCMP_CMP_MASKED_EQ", 0xf0, 0x20, 0x1f, false },
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
      struct oci_seccomp_arg args[] = { argument (1, cases[i].op, cases[i].value,
                                                  cases[i].value_two) };
      struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "personality") };
      struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                     .syscalls = rules,
                                     .syscalls_len = 1 };
      rules[0].args = args;
      rules[0].args_len = 1;
      build (&profile, true, &program);
      assert_int_equal (ask_name (&program, SECCOMP_ABI_X86_64, "personality", 0, cases[i].arg, 0),
                        cases[i].match ? SECCOMP_RET_ALLOW : ERRNO (EPERM));
    }
}

/* On different arguments all conditions must hold, on the same one any.  */
static void test_conditions (void **state)
{
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
  struct oci_seccomp_arg both[] = { argument (0, "SCMP_CMP_EQ", 1, 0),
                                    argument (1, "SCMP_CMP_EQ", 2, 0) };
  struct oci_seccomp_arg any[] = { argument (0, "SCMP_CMP_EQ", 1, 0),
                                   argument (0, "SCMP_CMP_EQ", 2, 0),
                                   argument (1, "SCMP_CMP_EQ", 9, 0) };
  struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "dup2"),
                                         rule ("SCMP_ACT_ALLOW", "personality"),
                                         rule ("SCMP_ACT_ERRNO", "dup"),
                                         rule ("SCMP_ACT_ALLOW", "no_such_call") };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                 .syscalls = rules,
                                 .syscalls_len = 4 };
  (void)state;
  rules[0].args = both;
  rules[0].args_len = ARRAY_SIZE (both);
  rules[1].args = any;
  rules[1].args_len = ARRAY_SIZE (any);
  build (&profile, true, &program);
  assert_int_equal (ask_name (&program, 0, "dup2", 1, 2, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask_name (&program, 0, "dup2", 1, 3, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "dup2", 2, 2, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "personality", 1, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask_name (&program, 0, "personality", 2, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask_name (&program, 0, "personality", 7, 9, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask_name (&program, 0, "personality", 7, 2, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "dup", 0, 0, 0), ERRNO (EPERM));
}

static void test_architectures (void **state)
{
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program native = { 0 };
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program all = { 0 };
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program bare = { 0 };
  struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "getpid") };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                 .syscalls = rules,
                                 .syscalls_len = 1 };
  (void)state;
  build (&profile, true, &native);
  profile.architectures = STRINGS (N ("SCMP_ARCH_X86"), N ("SCMP_ARCH_X32"), N ("SCMP_ARCH_S390X"),
                                   N ("SCMP_ARCH_AARCH64"));
  profile.architectures_len = 4;
  build (&profile, true, &all);
  build (&profile, false, &bare);
  assert_int_equal (ask (&native, SECCOMP_ABI_X86_64, 39, 0, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&native, SECCOMP_ABI_I386, 20, 0, 0, 0), SECCOMP_RET_KILL_THREAD);
  assert_int_equal (ask (&all, SECCOMP_ABI_X86_64, 39, 0, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&all, SECCOMP_ABI_I386, 20, 0, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&all, SECCOMP_ABI_I386, 19, 0, 0, 0), ERRNO (EPERM));
  /* x32 is the baseline's to refuse; without it the profile decides.  */
  assert_int_equal (ask (&all, SECCOMP_ABI_X86_64, 39 | SECCOMP_X32_BIT, 0, 0, 0), ERRNO (ENOSYS));
  assert_int_equal (ask (&bare, SECCOMP_ABI_X86_64, 39 | SECCOMP_X32_BIT, 0, 0, 0),
                    SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&bare, SECCOMP_ABI_X86_64, 38 | SECCOMP_X32_BIT, 0, 0, 0), ERRNO (EPERM));
}

/* The calls behind the newest one that the profile names.  */
static void test_newer (void **state)
{
  static const struct
  {
    const char *fallback;
    uint32_t error;
    uint32_t answer;
  } cases[] = {
    { "SCMP_ACT_ERRNO", EPERM, ERRNO (ENOSYS) },
    { "SCMP_ACT_ERRNO", EACCES, ERRNO (ENOSYS) },
    { "SCMP_ACT_ERRNO", ENOSYS, ERRNO (ENOSYS) },
    { "SCMP_ACT_KILL_PROCESS", 0, SECCOMP_RET_KILL_PROCESS },
    { "SCMP_ACT_TRAP", 0, SECCOMP_RET_TRAP },
    { "SCMP_ACT_ALLOW", 0, SECCOMP_RET_ALLOW },
  };
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
      struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_LOG", "getpid"),
                                             rule ("SCMP_ACT_LOG", "faccessat2") };
      struct oci_seccomp profile = { .default_action = N (cases[i].fallback),
                                     .has_default_errno_ret = cases[i].error != 0,
                                     .default_errno_ret = cases[i].error,
                                     .architectures = STRINGS (N ("SCMP_ARCH_X86")),
                                     .architectures_len = 1,
                                     .syscalls = rules,
                                     .syscalls_len = 2 };
      uint32_t old = cases[i].error != 0 ? ERRNO (cases[i].error) : cases[i].answer;
      build (&profile, false, &program);
      for (int abi = SECCOMP_ABI_X86_64; abi <= SECCOMP_ABI_I386; abi++)
        {
          assert_int_equal (ask (&program, abi, 439, 0, 0, 0), SECCOMP_RET_LOG);
          assert_int_equal (ask (&program, abi, 438, 0, 0, 0), old);
          assert_int_equal (ask (&program, abi, 440, 0, 0, 0), cases[i].answer);
          assert_int_equal (ask (&program, abi, 900, 0, 0, 0), cases[i].answer);
        }
      /* The baseline's EPERM for a newer call (open_tree_attr) stays.  */
      seccomp_program_free (&program);
      build (&profile, true, &program);
      assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 467, 0, 0, 0), ERRNO (EPERM));
    }
}

/* A call that libseccomp may not know keeps its rule.  */
static void test_lost (void **state)
{
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
  struct oci_seccomp_arg arg = argument (0, "SCMP_CMP_EQ", 1, 0);
  struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "mseal"),
                                         rule ("SCMP_ACT_LOG", "mseal"),
                                         rule ("SCMP_ACT_ERRNO", "file_setattr"),
                                         rule ("SCMP_ACT_ALLOW", "read") };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                 .syscalls = rules,
                                 .syscalls_len = 4 };
  struct seccomp_request request = { .profile = &profile };
  struct error err = { 0 };
  (void)state;
  build (&profile, true, &program);
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 462, 0, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 461, 0, 0, 0), ERRNO (EPERM));
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 469, 0, 0, 0), ERRNO (EPERM));
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 470, 0, 0, 0), ERRNO (ENOSYS));
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, 0, 0, 0, 0), SECCOMP_RET_ALLOW);
  if (seccomp_syscall_resolve_name ("mseal") != __NR_SCMP_ERROR)
    return;
  rules[0].args = &arg;
  rules[0].args_len = 1;
  seccomp_program_free (&program);
  assert_int_equal (seccomp_build (&request, &program, &err), -ENOTSUP);
  assert_non_null (strstr (err.message, "linux.seccomp.syscalls[0].args: "));
}
#endif

/* ---- Errors name the field.  */

struct broken
{
  const char *field;
  int error;
  void (*spoil) (struct oci_seccomp *);
};

static void spoil_default (struct oci_seccomp *p) { p->default_action = N ("SCMP_ACT_MAYBE"); }
static void spoil_no_default (struct oci_seccomp *p) { p->default_action = NULL; }
static void spoil_action (struct oci_seccomp *p) { p->syscalls[1].action = N ("allow"); }
static void spoil_names (struct oci_seccomp *p) { p->syscalls[0].names_len = 0; }
static void spoil_op (struct oci_seccomp *p) { p->syscalls[1].args[1].op = N ("SCMP_CMP_XX"); }
static void spoil_no_op (struct oci_seccomp *p) { p->syscalls[1].args[0].op = NULL; }
static void spoil_index (struct oci_seccomp *p) { p->syscalls[1].args[0].index = 6; }
static void spoil_no_index (struct oci_seccomp *p) { p->syscalls[1].args[0].has_index = false; }
static void spoil_no_value (struct oci_seccomp *p) { p->syscalls[1].args[0].has_value = false; }

static void spoil_default_errno (struct oci_seccomp *p)
{
  p->has_default_errno_ret = true;
  p->default_errno_ret = 4096;
}

static void spoil_errno (struct oci_seccomp *p)
{
  p->syscalls[1].has_errno_ret = true;
  p->syscalls[1].errno_ret = 1;
}

static void spoil_architecture (struct oci_seccomp *p)
{
  static char *words[2];
  words[0] = N ("SCMP_ARCH_X86_64");
  words[1] = N ("SCMP_ARCH_PDP11");
  p->architectures = words;
  p->architectures_len = 2;
}

static void spoil_flag (struct oci_seccomp *p)
{
  static char *words[] = { NULL };
  words[0] = N ("SECCOMP_FILTER_FLAG_NEW_LISTENER");
  p->flags = words;
  p->flags_len = 1;
}

static void spoil_conflict (struct oci_seccomp *p)
{
  p->syscalls[2] = p->syscalls[1];
  p->syscalls[2].action = N ("SCMP_ACT_LOG");
}

static const struct broken broken[] = {
  { "linux.seccomp.defaultAction: ", -EINVAL, spoil_default },
  { "linux.seccomp.defaultAction: ", -EINVAL, spoil_no_default },
  { "linux.seccomp.defaultErrnoRet: ", -EINVAL, spoil_default_errno },
  { "linux.seccomp.architectures[1]: ", -EINVAL, spoil_architecture },
  { "linux.seccomp.flags[0]: ", -EINVAL, spoil_flag },
  { "linux.seccomp.syscalls[0].names: ", -EINVAL, spoil_names },
  { "linux.seccomp.syscalls[1].action: ", -EINVAL, spoil_action },
  { "linux.seccomp.syscalls[1].errnoRet: ", -EINVAL, spoil_errno },
  { "linux.seccomp.syscalls[1].args[1].op: ", -EINVAL, spoil_op },
  { "linux.seccomp.syscalls[1].args[0].op: ", -EINVAL, spoil_no_op },
  { "linux.seccomp.syscalls[1].args[0].index: ", -EINVAL, spoil_index },
  { "linux.seccomp.syscalls[1].args[0].index: ", -EINVAL, spoil_no_index },
  { "linux.seccomp.syscalls[1].args[0].value: ", -EINVAL, spoil_no_value },
  { "linux.seccomp.syscalls[2]: ", -EEXIST, spoil_conflict },
};

static void test_errors (void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (broken); i++)
    {
      struct oci_seccomp_arg args[] = { argument (0, "SCMP_CMP_EQ", 1, 0),
                                        argument (1, "SCMP_CMP_EQ", 1, 0) };
      struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "read"),
                                             rule ("SCMP_ACT_ALLOW", "personality"),
                                             rule ("SCMP_ACT_ALLOW", "write") };
      struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                     .syscalls = rules,
                                     .syscalls_len = 3 };
      struct seccomp_request request = { .profile = &profile, .baseline = true };
      struct seccomp_program program = { .len = 77 };
      struct error err = { 0 };
      rules[1].args = args;
      rules[1].args_len = 2;
      broken[i].spoil (&profile);
      int r = seccomp_build (&request, &program, &err);
      if (r != broken[i].error || !str_has_prefix (err.message, broken[i].field))
        fail_msg ("%s: %d, \"%s\"", broken[i].field, r, err.message);
      assert_int_equal (program.len, 77);
      assert_null (program.filter);
    }
}

static void test_requests (void **state)
{
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ALLOW") };
  struct seccomp_request both = { .profile = &profile, .builtin = true };
  struct seccomp_request nothing = { 0 };
  struct seccomp_program program = { 0 };
  struct error err = { 0 };
  (void)state;
  assert_int_equal (seccomp_build (&both, &program, &err), -EINVAL);
  assert_int_equal (seccomp_build (&nothing, &program, &err), 0);
  assert_int_equal (program.len, 0);
  assert_int_equal (seccomp_program_load (&program, &err), 0);
  profile.flags = STRINGS (N ("SECCOMP_FILTER_FLAG_LOG"), N ("SECCOMP_FILTER_FLAG_SPEC_ALLOW"),
                           N ("SECCOMP_FILTER_FLAG_TSYNC"));
  profile.flags_len = 3;
  build (&profile, true, &program);
  assert_int_equal (program.flags, SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW
                                       | SECCOMP_FILTER_FLAG_TSYNC);
  seccomp_program_free (&program);
  assert_null (program.filter);
}

/* What the kernel would refuse is refused before anything is started.  */
static void test_too_long (void **state)
{
  enum
  {
    ARGS = 1500
  };
  static struct oci_seccomp_arg args[ARGS];
  struct oci_seccomp_syscall rules[] = { rule ("SCMP_ACT_ALLOW", "personality") };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                 .syscalls = rules,
                                 .syscalls_len = 1 };
  struct seccomp_request request = { .profile = &profile, .baseline = true };
  struct seccomp_program program = { 0 };
  struct error err = { 0 };
  (void)state;
  for (uint64_t i = 0; i < ARGS; i++)
    args[i] = argument (0, "SCMP_CMP_EQ", i << 32 | i, 0);
  rules[0].args = args;
  rules[0].args_len = ARGS;
  assert_int_equal (seccomp_build (&request, &program, &err), -E2BIG);
  assert_non_null (strstr (err.message, "4096"));
}

/* ---- The built-in profile */

static void test_default_names (void **state)
{
  static char *all[ARRAY_SIZE (refused)];
  struct seccomp_default builtin;
  size_t n = 0;
  (void)state;
  for (; seccomp_groups[n] != NULL; n++)
    all[n] = N (seccomp_groups[n]);
  seccomp_default_profile (all, n, &builtin);
  assert_true (builtin.profile.syscalls_len <= SECCOMP_DEFAULT_RULES_MAX);
  for (size_t i = 0; i < builtin.profile.syscalls_len; i++)
    for (size_t j = 0; j < builtin.rules[i].names_len; j++)
      {
        const char *name = builtin.rules[i].names[j];
        if (seccomp_syscall_resolve_name (name) == __NR_SCMP_ERROR
            && seccomp_newer_number (name) < 0)
          fail_msg ("the built-in profile names %s, which nobody knows", name);
      }
}

/* Without the baseline it refuses the same calls by itself, except by family of a socket and
   command of an ioctl.  */
static void test_default_alone (void **state)
{
  __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
  struct seccomp_request request = { .builtin = true };
  struct error err = { 0 };
  static const char *const others[] = {
    "chroot",         "acct", "syslog", "quotactl", "settimeofday", "iopl",
    "lookup_dcookie", "kcmp", "mbind",  "vhangup",  "sethostname",  "personality"
  };
  (void)state;
  assert_int_equal (seccomp_build (&request, &program, &err), 0);
  for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
    for (size_t j = 0; j < ARRAY_SIZE (SECCOMP_MACHINE->abis); j++)
      {
        enum seccomp_abi abi = SECCOMP_MACHINE->abis[j];
        int nr = seccomp_syscall_resolve_name_arch (seccomp_abi_audit[abi], refused[i].name);
        if (nr >= 0)
          assert_int_equal (ask (&program, abi, (uint32_t)nr, 0, 0, 0), ERRNO (refused[i].error));
      }
#ifdef __x86_64__
  for (size_t i = 0; i < ARRAY_SIZE (others); i++)
    assert_int_equal (ask_name (&program, 0, others[i], 0x40000, 0, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "clone", CLONE_NEWUSER, 0, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "clone", CLONE_VM | 17, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask_name (&program, 0, "unshare", 0x80, 0, 0), ERRNO (EPERM));
  assert_int_equal (ask_name (&program, 0, "personality", 0xffffffff, 0, 0), SECCOMP_RET_ALLOW);
  assert_int_equal (ask (&program, 0, 470, 0, 0, 0), ERRNO (ENOSYS));
  assert_int_equal (ask (&program, SECCOMP_ABI_I386, 470, 0, 0, 0), ERRNO (ENOSYS));
#endif
}

#ifdef __x86_64__
/* A grant opens its calls in both parts, and nothing else in either.  */
static void test_default_groups (void **state)
{
  (void)state;
  for (size_t g = 0; seccomp_groups[g] != NULL; g++)
    {
      __attribute__ ((cleanup (seccomp_program_free))) struct seccomp_program program = { 0 };
      char *allowed[] = { N (seccomp_groups[g]) };
      struct seccomp_request request = {
        .builtin = true, .baseline = true, .allowed = allowed, .allowed_len = 1
      };
      struct error err = { 0 };
      assert_int_equal (seccomp_build (&request, &program, &err), 0);
      for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
        {
          enum seccomp_abi abi =
              str_equal (refused[i].name, "umount") ? SECCOMP_ABI_I386 : SECCOMP_ABI_X86_64;
          assert_int_equal (ask_name (&program, abi, refused[i].name, 0, 0, 0),
                            str_equal (refused[i].group, seccomp_groups[g])
                                ? SECCOMP_RET_ALLOW
                                : ERRNO (refused[i].error));
        }
      bool userns = str_equal (seccomp_groups[g], "userns");
      uint32_t answer = userns ? SECCOMP_RET_ALLOW : ERRNO (EPERM);
      assert_int_equal (ask_name (&program, 0, "clone", CLONE_NEWUSER, 0, 0), answer);
      assert_int_equal (ask_name (&program, 0, "unshare", CLONE_NEWUSER, 0, 0), answer);
      assert_int_equal (ask_name (&program, 0, "chroot", 0, 0, 0), answer);
      assert_int_equal (ask_name (&program, 0, "socket", 17, 0, 0), ERRNO (EAFNOSUPPORT));
    }
}
#endif

/* ---- The words that spec/ has are those that linux/ understands.  */

static int build_words (const char *action, const char *op, const char *architecture,
                        const char *flag)
{
  char *architectures[] = { N (architecture) }, *flags[] = { N (flag) };
  struct oci_seccomp_arg arg = argument (0, op, 1, 1);
  struct oci_seccomp_syscall rules[] = { rule (action, "personality") };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ERRNO"),
                                 .has_default_errno_ret = true,
                                 .default_errno_ret = 99,
                                 .architectures = architectures,
                                 .architectures_len = 1,
                                 .flags = flags,
                                 .flags_len = 1,
                                 .syscalls = rules,
                                 .syscalls_len = 1 };
  struct seccomp_request request = { .profile = &profile };
  struct seccomp_program program = { 0 };
  rules[0].args = &arg;
  rules[0].args_len = 1;
  int r = seccomp_build (&request, &program, NULL);
  seccomp_program_free (&program);
  return r;
}

static void test_words (void **state)
{
  const char *const action = "SCMP_ACT_LOG", *op = "SCMP_CMP_EQ", *arch = "SCMP_ARCH_X86_64",
                    *flag = "SECCOMP_FILTER_FLAG_LOG";
  (void)state;
  assert_int_equal (build_words (action, op, arch, flag), 0);
  for (const char *const *w = seccomp_actions_known; *w != NULL; w++)
    assert_int_equal (build_words (*w, op, arch, flag),
                      seccomp_name_in (seccomp_actions_supported, *w) ? 0 : -ENOTSUP);
  for (const char *const *w = seccomp_operators; *w != NULL; w++)
    assert_int_equal (build_words (action, *w, arch, flag), 0);
  for (const char *const *w = seccomp_architectures; *w != NULL; w++)
    assert_int_equal (build_words (action, op, *w, flag), 0);
  for (const char *const *w = seccomp_flags_known; *w != NULL; w++)
    assert_int_equal (build_words (action, op, arch, *w),
                      seccomp_name_in (seccomp_flags_supported, *w) ? 0 : -ENOTSUP);
  assert_false (seccomp_name_in (seccomp_operators, NULL));
  assert_false (seccomp_name_in (seccomp_operators, "SCMP_CMP"));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
#ifdef __x86_64__
    cmocka_unit_test (test_actions),        cmocka_unit_test (test_operators),
    cmocka_unit_test (test_conditions),     cmocka_unit_test (test_architectures),
    cmocka_unit_test (test_newer),          cmocka_unit_test (test_lost),
    cmocka_unit_test (test_default_groups),
#endif
    cmocka_unit_test (test_errors),         cmocka_unit_test (test_requests),
    cmocka_unit_test (test_too_long),       cmocka_unit_test (test_default_names),
    cmocka_unit_test (test_default_alone),  cmocka_unit_test (test_words),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
