/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/names.c and findings.c: the tables and the list.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "spec/findings.h"
#include "spec/names.h"

static void test_capabilities (void **state)
{
  (void)state;
  assert_int_equal (capability_number ("CAP_CHOWN"), 0);
  assert_int_equal (capability_number ("CAP_SYS_ADMIN"), 21);
  assert_int_equal (capability_number ("CAP_CHECKPOINT_RESTORE"), 40);
  assert_int_equal (capability_last (), 40);
  assert_int_equal (capability_number ("cap_chown"), -1);
  assert_int_equal (capability_number ("CHOWN"), -1);
  assert_int_equal (capability_number ("CAP_CHOWN "), -1);
  assert_int_equal (capability_number (""), -1);
  assert_int_equal (capability_number (NULL), -1);
  assert_null (capability_name (41));
  assert_null (capability_name (-1));
  for (int i = 0; i <= capability_last (); i++)
    assert_int_equal (capability_number (capability_name (i)), i);
}

static void test_rlimits (void **state)
{
  (void)state;
  assert_int_equal (rlimit_number ("RLIMIT_NOFILE"), RLIMIT_NOFILE);
  assert_int_equal (rlimit_number ("RLIMIT_CPU"), RLIMIT_CPU);
  assert_int_equal (rlimit_number ("NOFILE"), -1);
  assert_int_equal (rlimit_number ("RLIMIT_NLIMITS"), -1);
  assert_int_equal (rlimit_number (NULL), -1);
}

static void test_namespaces (void **state)
{
  (void)state;
  assert_int_equal (namespace_flag ("network"), CLONE_NEWNET);
  assert_int_equal (namespace_flag ("mount"), CLONE_NEWNS);
  assert_int_equal (namespace_flag ("net"), 0);
  assert_int_equal (namespace_flag (NULL), 0);
  assert_string_equal (namespace_type (CLONE_NEWNS), "mount");
  assert_string_equal (namespace_proc_name ("mount"), "mnt");
  assert_string_equal (namespace_proc_name ("network"), "net");
  assert_null (namespace_proc_name ("mnt"));
  assert_null (namespace_type (0));
}

static void test_signals (void **state)
{
  (void)state;
  assert_int_equal (signal_number ("TERM"), SIGTERM);
  assert_int_equal (signal_number ("SIGTERM"), SIGTERM);
  assert_int_equal (signal_number ("sigterm"), SIGTERM);
  assert_int_equal (signal_number ("15"), 15);
  assert_int_equal (signal_number ("RTMIN"), 34);
  assert_int_equal (signal_number ("SIGRTMIN+3"), 37);
  assert_int_equal (signal_number ("RTMAX-1"), 63);
  assert_int_equal (signal_number ("RTMAX"), 64);
  assert_int_equal (signal_number ("RTMIN-1"), -1);
  assert_int_equal (signal_number ("RTMIN+31"), -1);
  assert_int_equal (signal_number ("RTMIN+"), -1);
  assert_int_equal (signal_number ("0"), -1);
  assert_int_equal (signal_number ("65"), -1);
  assert_int_equal (signal_number ("9x"), -1);
  assert_int_equal (signal_number ("-9"), -1);
  assert_int_equal (signal_number (""), -1);
  assert_int_equal (signal_number ("SIG"), -1);
  assert_int_equal (signal_number (NULL), -1);
  assert_string_equal (signal_name (SIGABRT), "ABRT");
  assert_null (signal_name (0));
}

static void test_findings_grow_and_keep_their_order (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct findings list = { .arena = arena };
  struct finding *f;

  (void)state;
  for (int i = 0; i < 100; i++)
    {
      f = finding_add (&list, "user.root", "warn", "/process", "number %d", i);
      assert_non_null (f);
      finding_fix (&list, f, "fix %d", i);
    }
  assert_int_equal (list.len, 100);
  assert_string_equal (list.items[99].message, "number 99");
  assert_string_equal (list.items[42].fix, "fix 42");
  assert_string_equal (list.items[0].pointer, "/process");
  assert_false (findings_reject (&list));
  finding_fix (&list, NULL, "nothing");
  assert_string_equal (finding_add (&list, "a.b", "reject", NULL, "x")->pointer, "");
  assert_true (findings_reject (&list));
  assert_false (list.failed);
}

static void test_pointers_are_escaped (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();

  (void)state;
  assert_string_equal (pointer_escape (arena, "a/b~c"), "a~1b~0c");
  assert_string_equal (pointer_escape (arena, ""), "");
  assert_string_equal (pointer_printf (arena, "/mounts/%d", 3), "/mounts/3");
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_capabilities),
    cmocka_unit_test (test_rlimits),
    cmocka_unit_test (test_namespaces),
    cmocka_unit_test (test_signals),
    cmocka_unit_test (test_findings_grow_and_keep_their_order),
    cmocka_unit_test (test_pointers_are_escaped),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
