/* SPDX-License-Identifier: Apache-2.0 */
/* What of a recorded plan holds for a process that joins (plan/make_exec.c).  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/str.h"
#include "plan/make.h"

static struct arena *arena;

static int setup (void **state)
{
  (void)state;
  arena = arena_new ();
  return arena == NULL;
}

static int teardown (void **state)
{
  (void)state;
  arena_free (arena);
  return 0;
}

static struct plan *recorded (void)
{
  static struct plan_rlimit limits[] = {
    { .name = "RLIMIT_NOFILE", .resource = RLIMIT_NOFILE, .soft = 100, .hard = 200 },
    { .name = "RLIMIT_CORE", .resource = RLIMIT_CORE, .soft = 1, .hard = 1 },
  };
  static uint32_t groups[] = { 7 };
  static struct plan_capabilities caps = { .bounding = 1 << 5, .ambient = 0 };
  static struct plan_process process = {
    .uid = 1000,
    .gid = 1001,
    .groups = groups,
    .groups_len = 1,
    .umask = 027,
    .cwd = "/work",
    .no_new_privileges = true,
    .rlimits = limits,
    .rlimits_len = 2,
    .has_oom_score_adj = true,
    .oom_score_adj = 300,
    .apparmor_profile = "confined",
    .capabilities = &caps,
  };
  static struct plan plan = { .process = &process };
  return &plan;
}

static void test_recorded_process (void **state)
{
  struct oci_process *p;
  (void)state;
  assert_int_equal (plan_recorded_process (recorded (), arena, &p, NULL), 0);
  assert_int_equal (p->user->uid, 1000);
  assert_int_equal (p->user->gid, 1001);
  assert_int_equal (p->user->umask, 027);
  assert_int_equal (p->user->additional_gids_len, 1);
  assert_string_equal (p->cwd, "/work");
  assert_true (p->no_new_privileges);
  assert_int_equal (p->capabilities->bounding_len, 1);
  assert_string_equal (p->capabilities->bounding[0], "CAP_KILL");
  assert_int_equal (p->capabilities->ambient_len, 0);
  assert_int_equal (p->args_len, 0);
  assert_int_equal (p->env_len, 0);
}

static const struct oci_rlimit *limit_of (const struct oci_process *p, const char *type)
{
  for (size_t i = 0; i < p->rlimits_len; i++)
    if (str_equal (p->rlimits[i].type, type))
      return &p->rlimits[i];
  return NULL;
}

static void test_never_weaker (void **state)
{
  struct oci_rlimit asked[] = {
    { .type = "RLIMIT_NOFILE", .has_soft = true, .soft = 5000, .has_hard = true, .hard = 9000 },
    { .type = "RLIMIT_NPROC", .has_soft = true, .soft = 10, .has_hard = true, .hard = 20 },
  };
  struct oci_process p = {
    .rlimits = asked, .rlimits_len = 2, .has_oom_score_adj = true, .oom_score_adj = -10
  };
  (void)state;
  assert_int_equal (plan_harden_exec (recorded (), &p, arena, NULL), 0);
  assert_true (p.no_new_privileges);
  assert_int_equal (p.oom_score_adj, 300);
  assert_string_equal (p.apparmor_profile, "confined");
  assert_int_equal (p.rlimits_len, 3);
  assert_int_equal (limit_of (&p, "RLIMIT_NOFILE")->soft, 200);
  assert_int_equal (limit_of (&p, "RLIMIT_NOFILE")->hard, 200);
  assert_int_equal (limit_of (&p, "RLIMIT_NPROC")->soft, 10);
  assert_int_equal (limit_of (&p, "RLIMIT_CORE")->hard, 1);
}

static void test_stricter_stays (void **state)
{
  struct oci_rlimit asked[] = {
    { .type = "RLIMIT_NOFILE", .has_soft = true, .soft = 5, .has_hard = true, .hard = 6 }
  };
  struct oci_process p = { .rlimits = asked,
                           .rlimits_len = 1,
                           .has_oom_score_adj = true,
                           .oom_score_adj = 900,
                           .apparmor_profile = "tighter" };
  (void)state;
  assert_int_equal (plan_harden_exec (recorded (), &p, arena, NULL), 0);
  assert_int_equal (p.oom_score_adj, 900);
  assert_string_equal (p.apparmor_profile, "tighter");
  assert_int_equal (limit_of (&p, "RLIMIT_NOFILE")->soft, 5);
  assert_int_equal (limit_of (&p, "RLIMIT_NOFILE")->hard, 6);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_recorded_process, setup, teardown),
    cmocka_unit_test_setup_teardown (test_never_weaker, setup, teardown),
    cmocka_unit_test_setup_teardown (test_stricter_stays, setup, teardown),
  };
  return cmocka_run_group_tests_name ("plan_exec", tests, NULL, NULL);
}
