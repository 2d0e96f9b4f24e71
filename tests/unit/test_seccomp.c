/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/seccomp_baseline.c and seccomp_asm.c, for both machines.  No privilege needed.  */
#include "seccomp_run.h"

#include "spec/seccomp_names.h"

#define NUMBERS 1024 /* more than any ABI has */

/* ---- The baseline */

/* Alone, for either machine.  */
static void baseline (const struct seccomp_machine *machine, char *const *allowed,
                      size_t allowed_len, struct bpf_asm *a, struct seccomp_program *ret)
{
  struct error err = { 0 };
  memset (a, 0, sizeof *a);
  assert_int_equal (seccomp_baseline_emit (a, machine, allowed, allowed_len, &err), 0);
  bpf_asm_return (a, SECCOMP_RET_ALLOW);
  assert_int_equal (bpf_asm_link (a, &err), 0);
  *ret = (struct seccomp_program){ .filter = a->insns, .len = (unsigned short)a->len };
}

static const struct
{
  const struct seccomp_machine *machine;
  enum seccomp_abi abi;
} abis[] = {
  { &seccomp_machine_x86, SECCOMP_ABI_X86_64 },
  { &seccomp_machine_x86, SECCOMP_ABI_I386 },
  { &seccomp_machine_arm, SECCOMP_ABI_ARM64 },
  { &seccomp_machine_arm, SECCOMP_ABI_ARM },
};

/* The answers for all numbers of one ABI with zero arguments must be exactly these.  */
static void assert_answers (const struct seccomp_program *program, enum seccomp_abi abi,
                            const char *opened)
{
  uint32_t expected[NUMBERS];
  for (size_t i = 0; i < NUMBERS; i++)
    expected[i] = SECCOMP_RET_ALLOW;
  for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
    {
      const char *name = refused[i].name;
      int nr = seccomp_syscall_resolve_name_arch (seccomp_abi_audit[abi], name);
      if (nr == __NR_SCMP_ERROR)
        nr = seccomp_newer_number (name);
      if (nr >= 0 && (opened == NULL || !str_equal (refused[i].group, opened)))
        expected[nr] = ERRNO (refused[i].error);
    }
  /* Family 0 is none of those that pass.  */
  expected[number (abi, "socket")] = ERRNO (EAFNOSUPPORT);
  expected[number (abi, "socketpair")] = ERRNO (EAFNOSUPPORT);
  if (abi == SECCOMP_ABI_I386)
    expected[102] = ERRNO (ENOSYS); /* socketcall */
  if (abi == SECCOMP_ABI_ARM)
    expected[401] = ERRNO (EPERM); /* kexec_file_load */
  for (uint32_t nr = 0; nr < NUMBERS; nr++)
    if (ask (program, abi, nr, 0, 0, 0) != expected[nr])
      fail_msg ("ABI %d, call %u, group %s: %#x, not %#x", abi, nr, opened ? opened : "none",
                ask (program, abi, nr, 0, 0, 0), expected[nr]);
}

static void test_baseline_numbers (void **state)
{
  struct bpf_asm a;
  struct seccomp_program program;
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (abis); i++)
    {
      baseline (abis[i].machine, NULL, 0, &a, &program);
      assert_answers (&program, abis[i].abi, NULL);
      for (const char *const *group = seccomp_baseline_groups (); *group != NULL; group++)
        {
          char *allowed[] = { (char *)(uintptr_t)*group };
          baseline (abis[i].machine, allowed, 1, &a, &program);
          assert_answers (&program, abis[i].abi, *group);
        }
    }
}

static void test_baseline_arguments (void **state)
{
  static const struct
  {
    const char *name;
    uint64_t arg0, arg1, arg2;
    uint32_t answer;
  } cases[] = {
    { "ioctl", 0, 0x5412, 0, ERRNO (EPERM) }, /* TIOCSTI */
    { "ioctl", 0, 0x541c, 0, ERRNO (EPERM) }, /* TIOCLINUX */
    { "ioctl", 0, 0x5413, 0, SECCOMP_RET_ALLOW },
    { "ioctl", 0x5412, 0, 0x5412, SECCOMP_RET_ALLOW },
    { "clone", CLONE_NEWUSER | 17, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWNS, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWCGROUP, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWUTS, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWIPC, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWPID, 0, 0, ERRNO (EPERM) },
    { "clone", CLONE_NEWNET, 0, 0, ERRNO (EPERM) },
    { "clone", 0x3d0f00 | 0x80, 0, 0, SECCOMP_RET_ALLOW }, /* pthread_create, signal bits */
    { "clone", 0x1200011, CLONE_NEWUSER, 0, SECCOMP_RET_ALLOW },
    { "unshare", CLONE_NEWUSER, 0, 0, ERRNO (EPERM) },
    { "unshare", CLONE_NEWNS | CLONE_FS, 0, 0, ERRNO (EPERM) },
    { "unshare", 0x80, 0, 0, ERRNO (EPERM) }, /* CLONE_NEWTIME */
    { "unshare", CLONE_FILES | CLONE_FS, 0, 0, SECCOMP_RET_ALLOW },
    { "socket", 1, 1, 0, SECCOMP_RET_ALLOW },
    { "socket", 2, 2, 17, SECCOMP_RET_ALLOW },
    { "socket", 10, 1, 6, SECCOMP_RET_ALLOW },
    { "socket", 16, 3, 0, SECCOMP_RET_ALLOW },
    { "socket", 16, 3, 4, ERRNO (EPROTONOSUPPORT) },  /* NETLINK_SOCK_DIAG */
    { "socket", 16, 3, 12, ERRNO (EPROTONOSUPPORT) }, /* NETLINK_NETFILTER */
    { "socket", 17, 3, 0, ERRNO (EAFNOSUPPORT) },     /* AF_PACKET */
    { "socket", 38, 5, 0, ERRNO (EAFNOSUPPORT) },     /* AF_ALG */
    { "socket", 40, 1, 0, ERRNO (EAFNOSUPPORT) },     /* AF_VSOCK */
    { "socketpair", 1, 1, 0, SECCOMP_RET_ALLOW },
    { "socketpair", 30, 1, 0, ERRNO (EAFNOSUPPORT) }, /* AF_TIPC */
  };
  struct bpf_asm a;
  struct seccomp_program program;
  /* The kernel looks at the lower half only: what lies above must make no difference.  */
  static const uint64_t above[] = { 0, 1ull << 32, 0xffffffff00000000ull };
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (abis); i++)
    {
      baseline (abis[i].machine, NULL, 0, &a, &program);
      for (size_t j = 0; j < ARRAY_SIZE (cases) * ARRAY_SIZE (above); j++)
        {
          uint64_t high = above[j % ARRAY_SIZE (above)];
          size_t c = j / ARRAY_SIZE (above);
          uint32_t answer = ask_name (&program, abis[i].abi, cases[c].name, cases[c].arg0 | high,
                                      cases[c].arg1 | high, cases[c].arg2 | high);
          if (answer != cases[c].answer)
            fail_msg ("ABI %d, case %zu (%s), above %#llx: %#x", abis[i].abi, c, cases[c].name,
                      (unsigned long long)high, answer);
        }
    }
}

static void test_baseline_userns (void **state)
{
  char userns[] = "userns", *allowed[] = { userns, userns };
  struct bpf_asm a;
  struct seccomp_program program;
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (abis); i++)
    {
      enum seccomp_abi abi = abis[i].abi;
      baseline (abis[i].machine, allowed, 2, &a, &program);
      assert_int_equal (ask_name (&program, abi, "clone", CLONE_NEWUSER | CLONE_NEWNET, 0, 0),
                        SECCOMP_RET_ALLOW);
      assert_int_equal (ask_name (&program, abi, "unshare", CLONE_NEWUSER | CLONE_NEWNS, 0, 0),
                        SECCOMP_RET_ALLOW);
      assert_int_equal (ask_name (&program, abi, "unshare", 0x80, 0, 0), ERRNO (EPERM));
      assert_int_equal (ask_name (&program, abi, "ioctl", 0, 0x5412, 0), ERRNO (EPERM));
    }
}

static void test_baseline_architectures (void **state)
{
  struct bpf_asm a;
  struct seccomp_program program;
  struct seccomp_data data = { .nr = 0 };
  (void)state;
  baseline (&seccomp_machine_x86, NULL, 0, &a, &program);
  for (uint32_t nr = 0; nr < NUMBERS; nr++)
    assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, nr | SECCOMP_X32_BIT, 0, 0, 0),
                      ERRNO (ENOSYS));
  assert_int_equal (ask (&program, SECCOMP_ABI_X86_64, UINT32_MAX, 0, 0, 0), ERRNO (ENOSYS));
  for (size_t i = 0; i < ARRAY_SIZE (abis); i++)
    {
      baseline (abis[i].machine, NULL, 0, &a, &program);
      for (size_t j = 0; j < ARRAY_SIZE (abis); j++)
        if (abis[j].machine != abis[i].machine)
          assert_int_equal (ask (&program, abis[j].abi, 39, 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
      data.arch = AUDIT_ARCH_S390X;
      assert_int_equal (run (program.filter, program.len, &data), SECCOMP_RET_KILL_PROCESS);
      data.arch = 0;
      assert_int_equal (run (program.filter, program.len, &data), SECCOMP_RET_KILL_PROCESS);
    }
}

static void test_groups (void **state)
{
  static const char *const never[] = { "",      "bpf",   "kexec", "modules", "open_by_handle_at",
                                       "mount", "setns", "USERNS" };
  struct error err = { 0 };
  struct seccomp_program program = { 0 };
  size_t n = 0;
  (void)state;
  for (; seccomp_groups[n] != NULL; n++)
    {
      assert_true (seccomp_baseline_group_known (seccomp_groups[n]));
      assert_string_equal (seccomp_baseline_groups ()[n], seccomp_groups[n]);
    }
  assert_null (seccomp_baseline_groups ()[n]);
  assert_false (seccomp_baseline_group_known (NULL));
  for (size_t i = 0; i < ARRAY_SIZE (never); i++)
    {
      char *allowed[] = { (char *)(uintptr_t)never[i] };
      struct seccomp_request request = { .allowed = allowed, .allowed_len = 1 };
      assert_false (seccomp_baseline_group_known (never[i]));
      for (int with = 0; with < 2; with++)
        {
          request.baseline = with;
          assert_int_equal (seccomp_build (&request, &program, &err), -EINVAL);
          assert_non_null (strstr (err.message, "grant"));
        }
    }
}

/* ---- The assembler */

static void test_assembler (void **state)
{
  struct bpf_asm a = { 0 };
  struct error err = { 0 };
  (void)state;
  bpf_label far = bpf_asm_label (&a);
  bpf_asm_if (&a, BPF_JEQ, 1, far, BPF_ASM_NEXT);
  assert_int_equal (bpf_asm_link (&a, &err), -EINVAL);
  for (int i = 0; i < 255; i++)
    bpf_asm_load (&a, 0);
  bpf_asm_place (&a, far);
  bpf_asm_return (&a, 0);
  assert_int_equal (bpf_asm_link (&a, &err), 0);
  assert_int_equal (a.insns[0].jt, 255);
  assert_int_equal (a.insns[0].jf, 0);
  a.places[far]++;
  assert_int_equal (bpf_asm_link (&a, &err), -E2BIG);
  a.places[far] = 1;
  assert_int_equal (bpf_asm_link (&a, &err), -EINVAL);
  for (int i = 0; i < BPF_ASM_INSNS_MAX; i++)
    bpf_asm_load (&a, 0);
  assert_int_equal (bpf_asm_link (&a, &err), -E2BIG);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_baseline_numbers), cmocka_unit_test (test_baseline_arguments),
    cmocka_unit_test (test_baseline_userns),  cmocka_unit_test (test_baseline_architectures),
    cmocka_unit_test (test_groups),           cmocka_unit_test (test_assembler),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
