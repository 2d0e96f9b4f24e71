/* SPDX-License-Identifier: Apache-2.0 */
/* libocispec: values in structs and back: ranges, round trips, copies, growth, the arena.
   No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ocispec.h"

#define LENGTH(a) (sizeof (a) / sizeof *(a))

/* ---- integers ---- */

struct limit
{
  const char *member; /* with an %s for the number */
  const char *least;
  const char *below;
  const char *most;
  const char *above;
  const char *message;
};

static int parse_number (const char *format, const char *number, struct oci_report *report,
                         struct arena *arena, char **ret_json)
{
  char *document;
  struct oci_config *config = NULL;
  int r;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  document = arena_printf (arena, format, number);
#pragma GCC diagnostic pop
  memset (report, 0, sizeof *report);
  r = oci_config_parse (arena, document, strlen (document), 0, report, &config);
  if (r == 0)
    assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, ret_json, NULL), 0);
  if (r == 0)
    assert_string_equal (*ret_json, document);
  return r;
}

static void test_integers (void **state)
{
  static const struct limit limits[] = {
    { "{\"linux\":{\"resources\":{\"blockIO\":{\"weight\":%s}}}}", "0", "-1", "65535", "65536",
      "expected an integer from 0 to 65535" },
    { "{\"process\":{\"user\":{\"uid\":%s}}}", "0", "-1", "4294967295", "4294967296",
      "expected an integer from 0 to 4294967295" },
    { "{\"process\":{\"user\":{\"umask\":%s}}}", "0", "-1", "511", "512",
      "expected an integer from 0 to 511" },
    { "{\"process\":{\"consoleSize\":{\"width\":%s}}}", "0", "-1", "18446744073709551615",
      "18446744073709551616", "expected an integer from 0 to 18446744073709551615" },
    { "{\"process\":{\"scheduler\":{\"nice\":%s}}}", "-2147483648", "-2147483649", "2147483647",
      "2147483648", "expected an integer from -2147483648 to 2147483647" },
    { "{\"process\":{\"oomScoreAdj\":%s}}", "-1000", "-1001", "1000", "1001",
      "expected an integer from -1000 to 1000" },
    { "{\"linux\":{\"resources\":{\"pids\":{\"limit\":%s}}}}", "-9223372036854775808",
      "-9223372036854775809", "9223372036854775807", "9223372036854775808",
      "expected an integer from -9223372036854775808 to 9223372036854775807" },
    { "{\"process\":{\"user\":{\"additionalGids\":[7,%s]}}}", "0", "-1", "4294967295", "4294967296",
      "expected an integer from 0 to 4294967295" },
  };

  (void)state;
  for (size_t i = 0; i < LENGTH (limits); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      const struct limit *l = &limits[i];
      const char *const wrong[] = { l->below, l->above, "1.0",
                                    "1e3",    "1E0",    "0.0",
                                    "\"1\"",  "true",   "99999999999999999999999999999999999999999",
                                    "[1]" };
      struct oci_report report;
      char *json = NULL;

      assert_int_equal (parse_number (l->member, l->least, &report, arena, &json), 0);
      assert_int_equal (parse_number (l->member, l->most, &report, arena, &json), 0);
      assert_int_equal (parse_number (l->member, "7", &report, arena, &json), 0);
      for (size_t k = 0; k < LENGTH (wrong); k++)
        {
          assert_int_equal (parse_number (l->member, wrong[k], &report, arena, &json), -EINVAL);
          assert_int_equal (report.errors_len, 1);
          assert_string_equal (report.errors[0].rule, "json.type");
          assert_string_equal (report.errors[0].message, l->message);
        }
    }
}

static void test_minus_zero (void **state)
{
  static const char is_signed[] = "{\"process\":{\"oomScoreAdj\":-0}}";
  static const char is_unsigned[] = "{\"process\":{\"user\":{\"uid\":-0}}}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, is_signed, sizeof is_signed - 1, 0, &report, &config),
                    0);
  assert_true (config->process->has_oom_score_adj);
  assert_int_equal (config->process->oom_score_adj, 0);
  assert_int_equal (
      oci_config_parse (arena, is_unsigned, sizeof is_unsigned - 1, 0, &report, &config), -EINVAL);
}

/* ---- structs ---- */

static const char full[] =
    "{\"ociVersion\":\"1.3.0\",\"root\":{\"path\":\"rootfs\",\"readonly\":false},"
    "\"mounts\":[{\"destination\":\"/a\",\"options\":[\"ro\",\"nosuid\"],"
    "\"uidMappings\":[{\"containerID\":0,\"hostID\":100000,\"size\":65536}]},"
    "{\"destination\":\"/b\",\"type\":\"tmpfs\",\"options\":[]}],"
    "\"process\":{\"terminal\":true,\"user\":{\"uid\":1,\"gid\":2,\"additionalGids\":[3,4]},"
    "\"args\":[\"sh\",\"-c\",\"a\\n\\\"\\\\\\u0001\xc3\xa9/\"],\"cwd\":\"/\","
    "\"capabilities\":{\"bounding\":[\"CAP_KILL\"],\"ambient\":[]},"
    "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":1024,\"hard\":18446744073709551615}]},"
    "\"annotations\":{\"b\":\"2\",\"a\":\"\"},"
    "\"linux\":{\"timeOffsets\":{\"boottime\":{\"secs\":-1,\"nanosecs\":5}},"
    "\"netDevices\":{\"eth0\":{\"name\":\"c0\"},\"eth1\":{}},"
    "\"resources\":{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}],\"unified\":{}}},"
    "\"windows\":{\"x\":[1.50,true,null,\"\\u0001\",{}]}}";

static struct oci_config *parse_full (struct arena *arena)
{
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  assert_int_equal (oci_config_parse (arena, full, sizeof full - 1, 0, &report, &config), 0);
  assert_int_equal (report.unknown_len, 0);
  return config;
}

static void test_struct_from_json (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  const struct oci_config *c = parse_full (arena);

  (void)state;
  assert_string_equal (c->oci_version, "1.3.0");
  assert_true (c->root->has_readonly);
  assert_false (c->root->readonly);
  assert_null (c->hostname);
  assert_null (c->hooks);
  assert_int_equal (c->mounts_len, 2);
  assert_int_equal (c->mounts[0].options_len, 2);
  assert_string_equal (c->mounts[0].options[1], "nosuid");
  assert_int_equal (c->mounts[0].uid_mappings[0].host_id, 100000);
  assert_false (c->mounts[0].has_gid_mappings);
  assert_string_equal (c->mounts[1].destination, "/b");
  assert_true (c->mounts[1].has_options);
  assert_int_equal (c->mounts[1].options_len, 0);
  assert_false (c->process->user->has_umask);
  assert_int_equal (c->process->user->additional_gids[1], 4);
  assert_string_equal (c->process->args[2], "a\n\"\\\x01\xc3\xa9/");
  assert_true (c->process->capabilities->has_ambient);
  assert_false (c->process->capabilities->has_effective);
  assert_true (c->process->rlimits[0].hard == UINT64_MAX);
  assert_true (c->annotations.has);
  assert_int_equal (c->annotations.len, 2);
  assert_string_equal (c->annotations.keys[1], "a");
  assert_string_equal (c->annotations.values[0], "2");
  assert_int_equal (c->linux->net_devices.len, 2);
  assert_string_equal (c->linux->net_devices.values[0].name, "c0");
  assert_null (c->linux->net_devices.values[1].name);
  assert_int_equal (c->linux->time_offsets.values[0].secs, -1);
  assert_false (c->linux->resources->devices[0].has_major);
  assert_true (c->linux->resources->unified.has);
  assert_false (c->linux->sysctl.has);
  assert_string_equal (c->windows, "{\"x\":[1.50,true,null,\"\\u0001\",{}]}");
}

static void test_null_is_absent (void **state)
{
  static const char document[] = "{\"hostname\":null,\"root\":null,\"mounts\":null,"
                                 "\"annotations\":null,\"windows\":null,"
                                 "\"process\":{\"terminal\":null,\"user\":{\"uid\":null}}}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;
  char *json;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, sizeof document - 1, 0, &report, &config),
                    0);
  assert_null (config->root);
  assert_false (config->has_mounts);
  assert_false (config->annotations.has);
  assert_null (config->windows);
  assert_false (config->process->has_terminal);
  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &json, NULL), 0);
  assert_string_equal (json, "{\"process\":{\"user\":{}}}");
}

static void test_round_trip (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  const struct oci_config *config = parse_full (arena);
  struct oci_report report = { 0 };
  struct oci_config *again = NULL;
  char *json;
  char *pretty;
  size_t len;

  (void)state;
  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &json, &len), 0);
  assert_string_equal (json, full);
  assert_int_equal (len, sizeof full - 1);
  assert_int_equal (oci_emit (&oci_config_type, config, OCI_PRETTY, arena, &pretty, &len), 0);
  assert_non_null (strstr (pretty, "\n      \"options\": [\n        \"ro\",\n"));
  assert_non_null (strstr (pretty, "\"ambient\": []"));
  assert_int_equal (oci_config_parse (arena, pretty, len, 0, &report, &again), 0);
  assert_int_equal (oci_emit (&oci_config_type, again, 0, arena, &json, NULL), 0);
  assert_string_equal (json, full);
}

static void test_clone_shares_nothing (void **state)
{
  struct arena *first = arena_new ();
  cleanup_arena struct arena *second = arena_new ();
  struct oci_config *config = parse_full (first);
  struct oci_config *copy = oci_clone (&oci_config_type, second, config);
  char *json;

  (void)state;
  assert_non_null (copy);
  config->mounts[0].options[0][0] = 'X';
  config->annotations.keys[0][0] = 'X';
  config->linux->net_devices.values[0].name[0] = 'X';
  config->process->user->additional_gids[0] = 99;
  arena_free (first);
  assert_int_equal (oci_emit (&oci_config_type, copy, 0, second, &json, NULL), 0);
  assert_string_equal (json, full);
}

/* A type by hand, for the kinds that no document of the specification has.  */
struct sample
{
  struct oci_map facts;
  bool has_values;
  char **values;
  size_t values_len;
  bool has_flags;
  bool *flags;
  size_t flags_len;
};

static const struct oci_member sample_members[] = {
  { .name = "facts",
    .name_len = 5,
    .kind = OCI_ANY,
    .shape = OCI_MAP,
    .offset = offsetof (struct sample, facts),
    .has_offset = offsetof (struct sample, facts.has) },
  { .name = "values",
    .name_len = 6,
    .kind = OCI_ANY,
    .shape = OCI_ARRAY,
    .offset = offsetof (struct sample, values),
    .has_offset = offsetof (struct sample, has_values),
    .len_offset = offsetof (struct sample, values_len) },
  { .name = "flags",
    .name_len = 5,
    .kind = OCI_BOOL,
    .shape = OCI_ARRAY,
    .offset = offsetof (struct sample, flags),
    .has_offset = offsetof (struct sample, has_flags),
    .len_offset = offsetof (struct sample, flags_len) },
};

static const struct oci_type sample_type = { "sample", sizeof (struct sample), sample_members,
                                             LENGTH (sample_members) };

static void test_any_in_lists (void **state)
{
  static const char document[] =
      "{ \"facts\" : { \"a\" : { \"q\" : [ 1 , -0.5e+3 , { } ] } , "
      "\"b\" : \"x/y\\u0041\\/\" } ,\n\"values\" : [ [ ] , false , 1e400 ] "
      ", \"flags\" : [ true , false ] }";
  static const char compact[] = "{\"facts\":{\"a\":{\"q\":[1,-0.5e+3,{}]},\"b\":\"x/yA/\"},"
                                "\"values\":[[],false,1e400],\"flags\":[true,false]}";
  static const char bad[] = "{\"facts\":{\"a\":null},\"values\":[null]}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct sample *sample;
  void *object = NULL;
  char *json;

  (void)state;
  assert_int_equal (
      oci_parse (&sample_type, arena, document, sizeof document - 1, 0, &report, &object), 0);
  sample = object;
  assert_string_equal (sample->facts.values[0], "{\"q\":[1,-0.5e+3,{}]}");
  assert_string_equal (sample->values[2], "1e400");
  assert_true (sample->flags[0]);
  object = oci_clone (&sample_type, arena, sample);
  assert_int_equal (oci_emit (&sample_type, object, 0, arena, &json, NULL), 0);
  assert_string_equal (json, compact);
  assert_int_equal (oci_parse (&sample_type, arena, bad, sizeof bad - 1, 0, &report, &object),
                    -EINVAL);
  assert_int_equal (report.errors_len, 2);
  assert_string_equal (report.errors[1].pointer, "/values/0");
}

static void test_emit_refuses_a_hole (void **state)
{
  char *args[] = { (char *)"a", NULL };
  struct oci_process process = { .has_args = true, .args = args, .args_len = 2 };
  cleanup_arena struct arena *arena = arena_new ();
  char *json = NULL;

  (void)state;
  assert_int_equal (oci_emit (&oci_process_type, &process, 0, arena, &json, NULL), -EINVAL);
  assert_null (json);
}

static void test_quote (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();

  (void)state;
  assert_string_equal (oci_quote (arena, ""), "\"\"");
  assert_string_equal (oci_quote (arena, "/a\"\\\b\f\n\r\t\x1f\x7f\xf0\x9f\x98\x80"),
                       "\"/a\\\"\\\\\\b\\f\\n\\r\\t\\u001f\x7f\xf0\x9f\x98\x80\"");
  assert_string_equal (oci_quote (arena, "a\xff"
                                         "b\xed\xa0\x80"),
                       "\"a\xef\xbf\xbd"
                       "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_escaped_text_is_decoded (void **state)
{
  static const char document[] =
      "{\"host\\u006eame\":\"\\ud83d\\ude00\\u00e9\\/\","
      "\"annotations\":{\"\\u0061b\":\"\\u0063d\",\"x\\u0079\":\"\\u007a\"}}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, sizeof document - 1, 0, &report, &config),
                    0);
  assert_string_equal (config->hostname, "\xf0\x9f\x98\x80\xc3\xa9/");
  assert_string_equal (config->annotations.keys[0], "ab");
  assert_string_equal (config->annotations.values[0], "cd");
  assert_string_equal (config->annotations.keys[1], "xy");
}

static void test_features_and_state (void **state)
{
  static const char features[] =
      "{\"ociVersionMin\":\"1.0.0\",\"ociVersionMax\":\"1.3.0\",\"hooks\":[\"poststop\"],"
      "\"linux\":{\"cgroup\":{\"v1\":true,\"systemdUser\":false},"
      "\"seccomp\":{\"enabled\":true,\"archs\":[\"SCMP_ARCH_X86_64\"]},"
      "\"mountExtensions\":{\"idmap\":{\"enabled\":true}},\"netDevices\":{\"enabled\":false}},"
      "\"potentiallyUnsafeConfigAnnotations\":[\"org.systemd.property.\"]}";
  static const char status[] = "{\"ociVersion\":\"1.3.0\",\"id\":\"a\",\"status\":\"running\","
                               "\"pid\":17,\"bundle\":\"/b\"}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_features *f = NULL;
  struct oci_state *s = NULL;
  char *json;

  (void)state;
  assert_int_equal (oci_features_parse (arena, features, strlen (features), 0, &report, &f), 0);
  assert_int_equal (oci_emit (&oci_features_type, f, 0, arena, &json, NULL), 0);
  assert_string_equal (json, features);
  assert_int_equal (oci_state_parse (arena, status, strlen (status), 0, &report, &s), 0);
  assert_int_equal (s->pid, 17);
  assert_int_equal (oci_emit (&oci_state_type, s, 0, arena, &json, NULL), 0);
  assert_string_equal (json, status);
  assert_int_equal (report.unknown_len, 0);
}

/* ---- growth: a quadratic step would take minutes ---- */

static char *numbered (const char *before, const char *format, size_t count, const char *after)
{
  char *text = malloc (strlen (before) + count * 64 + strlen (after) + 1);
  char *end = text;

  assert_non_null (text);
  end = stpcpy (end, before);
  for (size_t i = 0; i < count; i++)
    {
      if (i > 0)
        *end++ = ',';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      end += sprintf (end, format, i);
#pragma GCC diagnostic pop
    }
  strcpy (end, after);
  return text;
}

static double seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check_growth (char *document, size_t (*count) (const struct oci_config *), size_t want)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;
  double start = seconds ();

  assert_int_equal (oci_config_parse (arena, document, strlen (document), 0, &report, &config), 0);
  assert_true (seconds () - start < 3);
  assert_int_equal (count (config), want);
  free (document);
}

static size_t count_none (const struct oci_config *c) { return c->mounts_len; }
static size_t count_annotations (const struct oci_config *c) { return c->annotations.len; }
static size_t count_env (const struct oci_config *c) { return c->process->env_len; }
static size_t count_mounts (const struct oci_config *c) { return c->mounts_len; }

static void test_growth (void **state)
{
  (void)state;
  check_growth (numbered ("{", "\"k%zu\":1", 200000, "}"), count_none, 0);
  check_growth (numbered ("{\"x\":{", "\"k%zu\":{\"a\":1}", 200000, "}}"), count_none, 0);
  check_growth (numbered ("{\"annotations\":{", "\"k%zu\":\"\"", 100000, "}}"), count_annotations,
                100000);
  check_growth (numbered ("{\"process\":{\"env\":[", "\"K=%zu\"", 100000, "]}}"), count_env,
                100000);
  check_growth (numbered ("{\"mounts\":[", "{\"source\":\"%zu\"}", 100000, "]}"), count_mounts,
                100000);
}

/* One large object, then many small ones in the same place: emptying a set of names must not cost
   what it once held.  */
static void test_growth_after_a_large_object (void **state)
{
  char *small = numbered ("},", "{\"a\":%zu}", 200000, "]}");
  char *document = numbered ("{\"x\":[{", "\"k%zu\":1", 200000, small);

  (void)state;
  free (small);
  check_growth (document, count_none, 0);
}

/* ---- arena ---- */

static void test_arena (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  unsigned char *last = NULL;
  size_t size = 0;

  (void)state;
  assert_non_null (arena_alloc (arena, 0));
  assert_null (arena_alloc (arena, SIZE_MAX));
  assert_null (arena_alloc (arena, SIZE_MAX - 8));
  assert_null (arena_alloc_array (arena, SIZE_MAX / 2, 4));
  for (size_t i = 1; i < 100000; i = i * 3 / 2 + 1)
    {
      unsigned char *bytes = arena_alloc (arena, i);

      assert_int_equal ((uintptr_t)bytes % 16, 0);
      for (size_t k = 0; k < i; k++)
        assert_int_equal (bytes[k], 0);
      memset (bytes, 0xff, i);
    }
  for (size_t larger = 1; larger < 1000000; larger = larger * 2 + 1)
    {
      last = arena_grow (arena, last, size, larger);
      for (size_t k = 0; k < larger; k++)
        assert_int_equal (last[k], k < size ? 0xaa : 0);
      memset (last, 0xaa, larger);
      size = larger;
      if (larger % 5 == 0)
        assert_non_null (arena_alloc (arena, 1));
    }
  assert_null (arena_grow (arena, last, size, SIZE_MAX));
  assert_ptr_equal (arena_grow (arena, last, size, size - 1), last);
  assert_string_equal (arena_printf (arena, "%s-%d", "a", 7), "a-7");
  assert_string_equal (arena_strndup (arena, "abc", 2), "ab");
  arena_free (NULL);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_integers),
    cmocka_unit_test (test_minus_zero),
    cmocka_unit_test (test_struct_from_json),
    cmocka_unit_test (test_null_is_absent),
    cmocka_unit_test (test_round_trip),
    cmocka_unit_test (test_clone_shares_nothing),
    cmocka_unit_test (test_any_in_lists),
    cmocka_unit_test (test_emit_refuses_a_hole),
    cmocka_unit_test (test_quote),
    cmocka_unit_test (test_escaped_text_is_decoded),
    cmocka_unit_test (test_features_and_state),
    cmocka_unit_test (test_growth),
    cmocka_unit_test (test_growth_after_a_large_object),
    cmocka_unit_test (test_arena),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
