/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/str.c: numbers, quoting, the buffer.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static void test_prefix_and_suffix (void **state)
{
  (void)state;
  assert_true (str_has_prefix ("builtin:x", "builtin:"));
  assert_false (str_has_prefix ("built", "builtin:"));
  assert_true (str_has_prefix ("", ""));
  assert_true (str_has_suffix ("a.json", ".json"));
  assert_false (str_has_suffix ("json", ".json"));
  assert_true (str_equal (NULL, NULL));
  assert_false (str_equal (NULL, ""));
}

static void test_within_by_whole_components (void **state)
{
  (void)state;
  assert_true (path_is_within ("/a/b", "/a/b"));
  assert_true (path_is_within ("/a/b/c", "/a/b"));
  assert_false (path_is_within ("/a/bc", "/a/b"));
  assert_false (path_is_within ("/a", "/a/b"));
  assert_true (path_is_within ("/anything", "/"));
  assert_true (path_is_within ("/", "/"));
}

static void test_u64_accepts (void **state)
{
  uint64_t v = 7;

  (void)state;
  assert_int_equal (str_to_u64 ("0", 0, 10, &v), 0);
  assert_true (v == 0);
  assert_int_equal (str_to_u64 ("18446744073709551615", 0, UINT64_MAX, &v), 0);
  assert_true (v == UINT64_MAX);
  assert_int_equal (str_to_u64 ("10", 10, 10, &v), 0);
  assert_true (v == 10);
}

static void test_u64_refuses_and_leaves_the_result (void **state)
{
  static const struct
  {
    const char *text;
    int code;
  } cases[] = {
    { NULL, -EINVAL },
    { "", -EINVAL },
    { " 1", -EINVAL },
    { "1 ", -EINVAL },
    { "+1", -EINVAL },
    { "-1", -EINVAL },
    { "0x10", -EINVAL },
    { "1e3", -EINVAL },
    { "12a", -EINVAL },
    { "18446744073709551616", -ERANGE },
    { "101", -ERANGE },
    { "4", -ERANGE },
    { "99999999999999999999999999999999", -ERANGE },
    { "99999999999999999999999999999999x", -EINVAL },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      uint64_t v = 77;
      assert_int_equal (str_to_u64 (cases[i].text, 5, 100, &v), cases[i].code);
      assert_true (v == 77);
    }
}

static void test_i64_edges (void **state)
{
  int64_t v = 7;

  (void)state;
  assert_int_equal (str_to_i64 ("-9223372036854775808", INT64_MIN, INT64_MAX, &v), 0);
  assert_true (v == INT64_MIN);
  assert_int_equal (str_to_i64 ("9223372036854775807", INT64_MIN, INT64_MAX, &v), 0);
  assert_true (v == INT64_MAX);
  assert_int_equal (str_to_i64 ("-1000", -1000, 1000, &v), 0);
  assert_true (v == -1000);
  assert_int_equal (str_to_i64 ("9223372036854775808", INT64_MIN, INT64_MAX, &v), -ERANGE);
  assert_int_equal (str_to_i64 ("-9223372036854775809", INT64_MIN, INT64_MAX, &v), -ERANGE);
  assert_int_equal (str_to_i64 ("-1001", -1000, 1000, &v), -ERANGE);
  assert_int_equal (str_to_i64 ("-", INT64_MIN, INT64_MAX, &v), -EINVAL);
  assert_int_equal (str_to_i64 ("--1", INT64_MIN, INT64_MAX, &v), -EINVAL);
  assert_true (v == -1000);
}

static void test_quote_escapes_and_cuts (void **state)
{
  char buf[STR_QUOTE_MAX];
  char text[200];

  (void)state;
  assert_string_equal (str_quote (NULL, buf), "(null)");
  assert_string_equal (str_quote ("", buf), "");
  assert_string_equal (str_quote ("/a b~", buf), "/a b~");
  assert_string_equal (str_quote ("a\n\x1b[1m\xc3\xa4\x7f", buf), "a\\x0a\\x1b[1m\\xc3\\xa4\\x7f");

  memset (text, 'x', sizeof (text));
  text[120] = '\0';
  assert_string_equal (str_quote (text, buf), text);
  text[120] = 'x';
  text[199] = '\0';
  assert_int_equal (strlen (str_quote (text, buf)), 123);
  assert_true (str_has_suffix (buf, "x..."));

  memset (text, '\xff', 199);
  assert_int_equal (strlen (str_quote (text, buf)), 120 * 4 + 3);
}

static void test_quote_breaks_the_phrases_of_engines (void **state)
{
  static const char *const phrases[] = { "permission denied", "operation not permitted",
                                         "no such file or directory", "executable file not found" };
  char buf[STR_QUOTE_MAX];

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (phrases); i++)
    {
      char upper[64], text[256];

      for (size_t n = 0; n <= strlen (phrases[i]); n++)
        upper[n] =
            (char)((phrases[i][n] >= 'a' && n % 2 == 0) ? phrases[i][n] - 32 : phrases[i][n]);
      snprintf (text, sizeof (text), "/x%s: %s", upper, phrases[i]);
      str_quote (text, buf);
      assert_null (strcasestr (buf, phrases[i]));
      assert_int_equal (strlen (buf), strlen (text) + 2);
    }
  assert_string_equal (str_quote ("permission denied", buf), "permission\\ denied");
  assert_string_equal (str_quote ("permissions denied", buf), "permissions denied");
}

static void test_quote_fits_with_many_phrases (void **state)
{
  char buf[STR_QUOTE_MAX];
  char text[200] = "";

  (void)state;
  while (strlen (text) < 140)
    strcat (text, "permission denied");
  str_quote (text, buf);
  assert_null (strstr (buf, "permission denied"));
  assert_true (strlen (buf) < STR_QUOTE_MAX);
}

static void test_buffer_grows (void **state)
{
  cleanup_strbuf struct strbuf b = { 0 };

  (void)state;
  for (int i = 0; i < 1000; i++)
    strbuf_printf (&b, "%04d,", i);
  strbuf_add_n (&b, "xyz", 2);
  strbuf_add_n (&b, "", 0);
  strbuf_add (&b, "!");
  assert_false (b.failed);
  assert_int_equal (b.len, 5003);
  assert_int_equal (strlen (b.data), 5003);
  assert_memory_equal (b.data, "0000,0001,", 10);
  assert_string_equal (b.data + 4995, "0999,xy!");
}

static void test_failed_buffer_stays_failed (void **state)
{
  cleanup_strbuf struct strbuf b = { 0 };

  (void)state;
  strbuf_add (&b, "a");
  strbuf_add_n (&b, "b", SIZE_MAX - 1);
  assert_true (b.failed);
  strbuf_add (&b, "c");
  strbuf_printf (&b, "%d", 1);
  assert_true (b.failed);
  assert_string_equal (b.data, "a");
}

static void test_json_string (void **state)
{
  static const char *const cases[][2] = {
    { "", "\"\"" },
    { "a/b", "\"a/b\"" },
    { "\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
    { "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"" },
    { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
    { "\xff", "\"\xef\xbf\xbd\"" },
    { "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* overlong */
    { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" }, /* surrogate */
    { "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* ends too early */
    { "\xc3\"", "\"\xef\xbf\xbd\\\"\"" },           /* a quote is no tail */
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      cleanup_strbuf struct strbuf b = { 0 };
      strbuf_json_string (&b, cases[i][0]);
      assert_string_equal (b.data, cases[i][1]);
    }
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_prefix_and_suffix),
    cmocka_unit_test (test_within_by_whole_components),
    cmocka_unit_test (test_u64_accepts),
    cmocka_unit_test (test_u64_refuses_and_leaves_the_result),
    cmocka_unit_test (test_i64_edges),
    cmocka_unit_test (test_quote_escapes_and_cuts),
    cmocka_unit_test (test_quote_breaks_the_phrases_of_engines),
    cmocka_unit_test (test_quote_fits_with_many_phrases),
    cmocka_unit_test (test_buffer_grows),
    cmocka_unit_test (test_failed_buffer_stays_failed),
    cmocka_unit_test (test_json_string),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
