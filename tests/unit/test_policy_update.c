/* SPDX-License-Identifier: Apache-2.0 */
/* Rule update.limit, and the merge below it: each case is a record, an update, and what comes of it
   as JSON.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/str.h"
#include "policy/policy.h"

struct update_case
{
  const char *policy; /* of builtin: */
  const char *current, *asked;
  const char *reject;          /* pointers of the rejections, each with a blank behind */
  const char *change, *result; /* not looked at when rejected, or NULL */
};

static struct oci_resources *parse (struct arena *arena, const char *text)
{
  struct oci_report report = { 0 };
  void *resources = NULL;

  if (oci_parse (&oci_resources_type, arena, text, strlen (text), 0, &report, &resources) < 0)
    fail_msg ("%s: %s", text, report.errors_len > 0 ? report.errors[0].message : "?");
  return resources;
}

static const char *emit (struct arena *arena, const struct oci_resources *resources)
{
  char *json = NULL;

  assert_int_equal (oci_emit (&oci_resources_type, resources, 0, arena, &json, NULL), 0);
  return json;
}

static void check_case (const struct update_case *c)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct findings findings = { .arena = arena };
  struct update_admission admission;
  struct policy *policy = NULL;
  struct error err = { 0 };
  cleanup_strbuf struct strbuf rejected = { 0 };

  if (policy_load (c->policy, "agentrun", false, &policy, &err) < 0)
    fail_msg ("%s", err.message);
  assert_int_equal (policy_admit_update (policy, parse (arena, c->current), parse (arena, c->asked),
                                         arena, &findings, &admission, &err),
                    0);
  strbuf_add (&rejected, "");
  for (size_t i = 0; i < findings.len; i++)
    if (str_equal (findings.items[i].action, "reject"))
      {
        assert_string_equal (findings.items[i].rule, "update.limit");
        assert_non_null (findings.items[i].fix);
        strbuf_printf (&rejected, "%s ", findings.items[i].pointer);
      }
  assert_string_equal (rejected.data == NULL ? "" : rejected.data, c->reject);
  assert_int_equal (admission.denied, c->reject[0] != '\0');
  if (c->change != NULL)
    assert_string_equal (emit (arena, admission.change), c->change);
  if (c->result != NULL)
    assert_string_equal (emit (arena, admission.result), c->result);
  policy_free (policy);
}

static void check_cases (const struct update_case *cases, size_t count)
{
  for (size_t i = 0; i < count; i++)
    check_case (&cases[i]);
}

#define DEFAULT    "builtin:default"
#define STRICT     "builtin:strict"
#define PERMISSIVE "builtin:permissive"
#define AT         "/linux/resources"
#define RECORD                                                                                     \
  "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}],"                                           \
  "\"memory\":{\"limit\":1000000,\"swap\":1000000},"                                               \
  "\"cpu\":{\"quota\":50000,\"period\":100000},\"pids\":{\"limit\":64}}"

/* What Docker sends for an update of something else.  */
static void test_zeros (void **state)
{
  static const struct update_case cases[] = {
    { DEFAULT, RECORD,
      "{\"memory\":{\"limit\":0,\"reservation\":0,\"kernel\":0,\"disableOOMKiller\":false},"
      "\"cpu\":{\"shares\":0,\"quota\":0,\"period\":0,\"cpus\":\"\",\"mems\":\"\"},"
      "\"pids\":{\"limit\":0},\"blockIO\":{\"weight\":0}}",
      "", "{\"memory\":{},\"cpu\":{},\"pids\":{},\"blockIO\":{}}",
      "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}],"
      "\"memory\":{\"limit\":1000000,\"swap\":1000000},"
      "\"cpu\":{\"quota\":50000,\"period\":100000},\"pids\":{\"limit\":64},\"blockIO\":{}}" },
    { DEFAULT, RECORD, "{\"cpu\":{\"burst\":0,\"idle\":0},\"memory\":{\"swappiness\":0}}", "",
      "{\"memory\":{\"swappiness\":0},\"cpu\":{\"burst\":0,\"idle\":0}}", NULL },
  };

  (void)state;
  check_cases (cases, ARRAY_SIZE (cases));
}

static void test_merge (void **state)
{
  static const struct update_case cases[] = {
    { DEFAULT, RECORD, "{\"pids\":{\"limit\":32},\"cpu\":{\"quota\":20000,\"cpus\":\"0\"}}", "",
      "{\"cpu\":{\"quota\":20000,\"cpus\":\"0\"},\"pids\":{\"limit\":32}}",
      "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}],"
      "\"memory\":{\"limit\":1000000,\"swap\":1000000},"
      "\"cpu\":{\"quota\":20000,\"period\":100000,\"cpus\":\"0\"},\"pids\":{\"limit\":32}}" },
    { PERMISSIVE, "{\"unified\":{\"a\":\"1\",\"b\":\"2\"}}",
      "{\"unified\":{\"b\":\"3\",\"c\":\"4\"}}", "", "{\"unified\":{\"b\":\"3\",\"c\":\"4\"}}",
      "{\"unified\":{\"a\":\"1\",\"b\":\"3\",\"c\":\"4\"}}" },
    { PERMISSIVE, "{}", "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":5}]}", "", NULL,
      "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":5}]}" },
    { PERMISSIVE, "{\"hugepageLimits\":[{\"pageSize\":\"1GB\",\"limit\":7}]}",
      "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":5}]}", "", NULL,
      "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":5}]}" },
  };

  (void)state;
  check_cases (cases, ARRAY_SIZE (cases));
}

/* Swap counts together with memory: left alone it would hold a raised limit down, and let a lowered
   one run over into swap.  */
static void test_swap_follows (void **state)
{
  static const struct update_case cases[] = {
    { DEFAULT, RECORD, "{\"memory\":{\"limit\":3000000}}", "",
      "{\"memory\":{\"limit\":3000000,\"swap\":3000000}}", NULL },
    { DEFAULT, RECORD, "{\"memory\":{\"limit\":500000}}", "",
      "{\"memory\":{\"limit\":500000,\"swap\":500000}}", NULL },
    { DEFAULT, RECORD, "{\"memory\":{\"swap\":-1}}", "",
      "{\"memory\":{\"limit\":1000000,\"swap\":1000000}}", NULL },
    { STRICT, RECORD, "{\"memory\":{\"limit\":500000,\"swap\":900000}}", "",
      "{\"memory\":{\"limit\":500000,\"swap\":500000}}", NULL },
    { PERMISSIVE, RECORD, "{\"memory\":{\"limit\":500000}}", "", "{\"memory\":{\"limit\":500000}}",
      NULL },
    /* cgroup v2 can't convert swap without the limit.  */
    { PERMISSIVE, RECORD, "{\"memory\":{\"swap\":4000000}}", "",
      "{\"memory\":{\"limit\":1000000,\"swap\":4000000}}", NULL },
  };

  (void)state;
  check_cases (cases, ARRAY_SIZE (cases));
}

static void test_refused (void **state)
{
  static const struct update_case cases[] = {
    { DEFAULT, RECORD, "{\"memory\":{\"limit\":-1}}", AT "/memory/limit ", NULL, NULL },
    { DEFAULT, RECORD, "{\"memory\":{\"limit\":8589934592}}", "", NULL, NULL },
    { DEFAULT, RECORD, "{\"memory\":{\"limit\":8589934593}}", AT "/memory/limit ", NULL, NULL },
    { DEFAULT, RECORD, "{\"memory\":{\"disableOOMKiller\":true}}", AT "/memory/disableOOMKiller ",
      NULL, NULL },
    { DEFAULT, RECORD, "{\"pids\":{\"limit\":-1}}", AT "/pids/limit ", NULL, NULL },
    { DEFAULT, RECORD, "{\"pids\":{\"limit\":4096}}", "", NULL, NULL },
    { DEFAULT, RECORD, "{\"pids\":{\"limit\":4097}}", AT "/pids/limit ", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"quota\":-1}}", AT "/cpu/quota ", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"quota\":800000}}", "", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"quota\":800001}}", AT "/cpu/quota ", NULL, NULL },
    /* A shorter period makes more of the quota that holds.  */
    { DEFAULT, RECORD, "{\"cpu\":{\"period\":6250}}", "", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"period\":6000}}", AT "/cpu/quota ", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"period\":2000000}}", AT "/cpu/period ", NULL, NULL },
    { DEFAULT, RECORD, "{\"cpu\":{\"realtimePeriod\":5}}", AT "/cpu/realtimeRuntime ", NULL, NULL },
    { DEFAULT, RECORD, "{\"unified\":{\"memory.max\":\"max\",\"pids.max\":\"9\",\"a/b\":\"\"}}",
      AT "/unified/memory.max " AT "/unified/a~1b ", NULL, NULL },
    { STRICT, RECORD, "{\"pids\":{\"limit\":-1}}", AT "/pids/limit ", NULL, NULL },
    { DEFAULT, "{}", "{\"memory\":{\"limit\":-1},\"pids\":{\"limit\":-1},\"cpu\":{\"quota\":-1}}",
      AT "/memory/limit " AT "/pids/limit " AT "/cpu/quota ", NULL, NULL },
    { PERMISSIVE, RECORD,
      "{\"memory\":{\"limit\":-1},\"pids\":{\"limit\":-1},\"cpu\":{\"quota\":-1}}", "",
      "{\"memory\":{\"limit\":-1},\"cpu\":{\"quota\":-1},\"pids\":{\"limit\":-1}}", NULL },
  };

  (void)state;
  check_cases (cases, ARRAY_SIZE (cases));
}

/* Devices are never changed; only an attempt at more is worth a refusal.  */
static void test_devices (void **state)
{
  static const struct update_case cases[] = {
    { DEFAULT, RECORD, "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", "", "{}", RECORD },
    { DEFAULT, RECORD,
      "{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"}]}",
      "", "{}", RECORD },
    { DEFAULT, RECORD, "{\"devices\":[{\"allow\":true,\"access\":\"rwm\"}]}", AT "/devices/0 ",
      NULL, NULL },
    { DEFAULT, RECORD,
      "{\"devices\":[{\"allow\":true,\"type\":\"b\",\"major\":1,\"minor\":3,\"access\":\"r\"}]}",
      AT "/devices/0 ", NULL, NULL },
    { DEFAULT, RECORD, "{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1}]}",
      AT "/devices/0 ", NULL, NULL },
  };

  (void)state;
  check_cases (cases, ARRAY_SIZE (cases));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_zeros),        cmocka_unit_test (test_merge),
    cmocka_unit_test (test_swap_follows), cmocka_unit_test (test_refused),
    cmocka_unit_test (test_devices),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
