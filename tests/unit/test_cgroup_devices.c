/* SPDX-License-Identifier: Apache-2.0 */
/* The device rules: reading, flattening for v1, and the program for v2, which is run here by an
   interpreter of its own against what the spec says.  Needs no privilege, save that the kernel's
   verifier is asked as root only.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroup/internal.h"

static struct error err;

#define ANY DEVICE_ANY
#define R   DEVICE_READ
#define W   DEVICE_WRITE
#define M   DEVICE_MKNOD

static const struct device_rule deny_all = { false, 'a', ANY, ANY, R | W | M };

static void test_read (void **state)
{
  struct oci_device_cgroup in[] = {
    { .has_allow = true, .access = (char *)"rwm" },
    { .has_allow = true,
      .allow = true,
      .type = (char *)"c",
      .has_major = true,
      .major = 42,
      .has_minor = true,
      .minor = -1,
      .access = (char *)"mr" },
    { .has_allow = true,
      .allow = true,
      .type = (char *)"b",
      .has_major = true,
      .major = 4095,
      .has_minor = true,
      .minor = 1048575 },
  };
  cleanup_free struct device_rule *out = NULL;
  char line[DEVICE_LINE_MAX];

  (void)state;
  assert_int_equal (device_rules_read (in, 3, &out, &err), 0);
  assert_string_equal (device_rule_line (&out[0], line), "a *:* rwm");
  assert_false (out[0].allow);
  assert_string_equal (device_rule_line (&out[1], line), "c 42:* rm");
  assert_string_equal (device_rule_line (&out[2], line), "b 4095:1048575 rwm");
  assert_true (out[2].allow);
}

static void test_read_refuses (void **state)
{
  const struct oci_device_cgroup bad[] = {
    { .access = (char *)"r" },
    { .has_allow = true, .type = (char *)"x" },
    { .has_allow = true, .type = (char *)"u" },
    { .has_allow = true, .type = (char *)"cc" },
    { .has_allow = true, .access = (char *)"" },
    { .has_allow = true, .access = (char *)"rx" },
    { .has_allow = true, .has_major = true, .major = 4096 },
    { .has_allow = true, .has_minor = true, .minor = 1048576 },
  };
  struct device_rule *out = NULL;

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    {
      assert_true (device_rules_read (&bad[i], 1, &out, &err) < 0);
      assert_non_null (strstr (err.message, "linux.resources.devices[0]"));
    }
  assert_int_equal (device_rules_read (bad, DEVICE_RULES_MAX + 1, &out, &err), -E2BIG);
  assert_null (out);
}

/* "D" or "A" for the default, then the exceptions.  */
static const char *flatten (const struct device_rule *rules, size_t n)
{
  static char text[1024];
  struct device_exceptions e;
  char line[DEVICE_LINE_MAX];
  size_t len;

  if (device_rules_flatten (rules, n, &e, &err) < 0)
    return errno_name (-err.code);
  len = (size_t)snprintf (text, sizeof (text), "%s", e.default_allow ? "A" : "D");
  for (size_t i = 0; i < e.len; i++)
    len += (size_t)snprintf (text + len, sizeof (text) - len, ";%s",
                             device_rule_line (&e.list[i], line));
  free (e.list);
  return text;
}

#define FLATTEN(...)                                                                               \
  flatten ((const struct device_rule[]){ __VA_ARGS__ },                                            \
           sizeof ((const struct device_rule[]){ __VA_ARGS__ }) / sizeof (struct device_rule))

static void test_flatten (void **state)
{
  (void)state;
  assert_string_equal (flatten (NULL, 0), "D");
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, 3, R | W }), "D;c 1:3 rw");
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, 3, R }, { true, 'c', 1, 3, M }),
                       "D;c 1:3 rm");
  assert_string_equal (FLATTEN (deny_all, { true, 'a', 1, 3, R }), "D;b 1:3 r;c 1:3 r");
  /* Denied again, by the same and by a wider rule; other types and accesses stay.  */
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, 3, R | W }, { false, 'c', 1, 3, W }),
                       "D;c 1:3 r");
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, 3, R }, { true, 'b', 1, 3, R },
                                { false, 'c', 1, ANY, R | W | M }),
                       "D;b 1:3 r");
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, 3, R }, deny_all), "D");
  /* Privileged, with something taken out.  */
  assert_string_equal (
      FLATTEN (deny_all, { true, 'a', ANY, ANY, R | W | M }, { false, 'b', 8, ANY, W }),
      "A;b 8:* w");
  /* All of one type.  */
  assert_string_equal (FLATTEN (deny_all, { true, 'a', ANY, ANY, M }), "D;b *:* m;c *:* m");
  /* A hole, which v1 can't have.  */
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, ANY, R }, { false, 'c', 1, 3, R }),
                       "EOPNOTSUPP");
  assert_non_null (strstr (err.message, "\"c 1:3 r\" out of the earlier \"c 1:* r\""));
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, ANY, R }, { false, 'c', ANY, 3, R }),
                       "EOPNOTSUPP");
  assert_string_equal (FLATTEN (deny_all, { true, 'c', 1, ANY, R }, { false, 'c', 1, 3, W }),
                       "D;c 1:* r");
}

/* ---- the program */

/* As much of eBPF as the assembler uses.  */
static int run (const struct bpf_insn *insns, size_t len, uint32_t access_type, uint32_t major,
                uint32_t minor)
{
  uint32_t context[] = { access_type, major, minor };
  uint64_t reg[11] = { 0 };

  for (size_t pc = 0; pc < len; pc++)
    {
      const struct bpf_insn *i = &insns[pc];
      uint64_t *dst = &reg[i->dst_reg];
      switch (i->code)
        {
        case BPF_LDX | BPF_MEM | BPF_W:
          *dst = context[i->off / 4];
          break;
        case BPF_ALU | BPF_MOV | BPF_X:
          *dst = (uint32_t)reg[i->src_reg];
          break;
        case BPF_ALU64 | BPF_MOV | BPF_K:
          *dst = (uint64_t)(int64_t)i->imm;
          break;
        case BPF_ALU | BPF_AND | BPF_K:
          *dst = (uint32_t)*dst & (uint32_t)i->imm;
          break;
        case BPF_ALU | BPF_RSH | BPF_K:
          *dst = (uint32_t)*dst >> i->imm;
          break;
        case BPF_JMP32 | BPF_JNE | BPF_K:
          pc += (uint32_t)*dst != (uint32_t)i->imm ? (size_t)i->off : 0;
          break;
        case BPF_JMP32 | BPF_JEQ | BPF_K:
          pc += (uint32_t)*dst == (uint32_t)i->imm ? (size_t)i->off : 0;
          break;
        case BPF_JMP | BPF_JA:
          pc += (size_t)i->off;
          break;
        case BPF_JMP | BPF_EXIT:
          return (int)reg[0];
        default:
          fail_msg ("instruction %zu has the unknown code 0x%x", pc, i->code);
        }
    }
  fail_msg ("ran over the end");
  return -1;
}

/* The spec: in order, a later rule changes an earlier one.  */
static bool expected (const struct device_rule *rules, size_t n, char type, int32_t major,
                      int32_t minor, unsigned access)
{
  unsigned allowed = 0;

  for (size_t i = 0; i < n; i++)
    {
      const struct device_rule *r = &rules[i];
      if ((r->type != 'a' && r->type != type) || (r->major != ANY && r->major != major)
          || (r->minor != ANY && r->minor != minor))
        continue;
      allowed = r->allow ? allowed | r->access : allowed & ~r->access;
    }
  return (access & ~allowed) == 0;
}

static void check_program (const struct device_rule *rules, size_t n)
{
  cleanup_free struct bpf_insn *insns = NULL;
  size_t len;

  assert_int_equal (devices_bpf_assemble (rules, n, &insns, &len, &err), 0);
  for (unsigned access = 1; access <= 7; access++)
    for (int32_t major = 0; major < 3; major++)
      for (int32_t minor = 0; minor < 3; minor++)
        for (uint32_t type = BPF_DEVCG_DEV_BLOCK; type <= BPF_DEVCG_DEV_CHAR; type++)
          {
            bool want =
                expected (rules, n, type == BPF_DEVCG_DEV_BLOCK ? 'b' : 'c', major, minor, access);
            assert_int_equal (
                run (insns, len, access << 16 | type, (uint32_t)major, (uint32_t)minor), want);
          }
}

static uint32_t next_random (uint32_t *seed)
{
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static void test_program (void **state)
{
  uint32_t seed = 1;

  (void)state;
  check_program (NULL, 0);
  check_program (&deny_all, 1);
  for (unsigned round = 0; round < 500; round++)
    {
      struct device_rule rules[8];
      size_t n = next_random (&seed) % ARRAY_SIZE (rules) + 1;
      for (size_t i = 0; i < n; i++)
        rules[i] = (struct device_rule){
          .allow = next_random (&seed) % 2,
          .type = "abc"[next_random (&seed) % 3],
          .major = (int32_t)(next_random (&seed) % 4) - 1,
          .minor = (int32_t)(next_random (&seed) % 4) - 1,
          .access = next_random (&seed) % 7 + 1,
        };
      check_program (rules, n);
    }
}

static void test_verifier (void **state)
{
  static struct device_rule rules[DEVICE_RULES_MAX];
  cleanup_free struct bpf_insn *insns = NULL;
  cleanup_close int fd = -1;
  size_t len;

  (void)state;
  if (geteuid () != 0)
    {
      print_message ("not root\n");
      skip ();
    }
  rules[0] = deny_all;
  for (size_t i = 1; i < ARRAY_SIZE (rules); i++)
    rules[i] =
        (struct device_rule){ i % 3 != 0, "abc"[i % 3], (int32_t)i % 100, (int32_t)i, i % 7 + 1 };
  assert_int_equal (devices_bpf_assemble (rules, ARRAY_SIZE (rules), &insns, &len, &err), 0);
  if (devices_bpf_load (insns, len, &fd, &err) < 0)
    {
      if (err.code == -EPERM || err.code == -ENOSYS)
        skip ();
      fail_msg ("%s", err.message);
    }
  /* What the verifier refuses is worded.  */
  insns[len - 1].code = 0xff;
  int refused = -1;
  assert_true (devices_bpf_load (insns, len, &refused, &err) < 0);
  assert_non_null (strstr (err.message, "load the device filter"));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_read),     cmocka_unit_test (test_read_refuses),
    cmocka_unit_test (test_flatten),  cmocka_unit_test (test_program),
    cmocka_unit_test (test_verifier),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
