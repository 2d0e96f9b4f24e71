/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/error.c: the sentence, its cut, the name of the errno.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/error.h"

static void test_set_gives_code_and_sentence (void **state)
{
  struct error err = { 0 };

  (void)state;
  assert_int_equal (error_set (&err, -EINVAL, "member %s at %d", "root", 7), -EINVAL);
  assert_int_equal (err.code, -EINVAL);
  assert_string_equal (err.message, "member root at 7");
}

static void test_null_error_still_returns_the_code (void **state)
{
  (void)state;
  assert_int_equal (error_set (NULL, -EPERM, "x"), -EPERM);
  assert_int_equal (error_errno (NULL, ENOENT, "x"), -ENOENT);
  assert_true (error_context (NULL, "x") < 0);
}

static void test_a_lost_errno_is_no_success (void **state)
{
  struct error err = { 0 };

  (void)state;
  assert_int_equal (error_set (&err, 0, "x"), -EIO);
  assert_int_equal (error_errno (&err, 0, "x"), -EIO);
  assert_int_equal (err.code, -EIO);
}

static void test_errno_is_named_not_spelled (void **state)
{
  struct error err = { 0 };

  (void)state;
  assert_int_equal (error_errno (&err, EACCES, "open %s", "/a"), -EACCES);
  assert_string_equal (err.message, "open /a: EACCES");
  assert_string_equal (errno_name (EPERM), "EPERM");
  assert_string_equal (errno_name (4242), "errno 4242");
  assert_string_equal (errno_name (0), "errno 0");
}

static void test_long_sentence_is_cut_and_marked (void **state)
{
  struct error err = { 0 };
  char text[2 * ERROR_MESSAGE_MAX];

  (void)state;
  memset (text, 'a', sizeof (text) - 1);
  text[sizeof (text) - 1] = '\0';

  error_set (&err, -EINVAL, "%s", text);
  assert_int_equal (strlen (err.message), ERROR_MESSAGE_MAX - 1);
  assert_string_equal (err.message + ERROR_MESSAGE_MAX - 4, "...");

  error_errno (&err, EPROTONOSUPPORT, "%s", text);
  assert_non_null (strstr (err.message, "...: EPROTONOSUPPORT"));
}

static void test_longest_uncut_sentence (void **state)
{
  struct error err = { 0 };
  char text[ERROR_MESSAGE_MAX];

  (void)state;
  memset (text, 'a', sizeof (text) - 1);
  text[sizeof (text) - 1] = '\0';
  error_set (&err, -EINVAL, "%s", text);
  assert_string_equal (err.message, text);
}

static void test_sentence_stays_on_one_line (void **state)
{
  struct error err = { 0 };

  (void)state;
  error_set (&err, -EINVAL, "a\nb\r\n");
  assert_string_equal (err.message, "a b  ");
}

static void test_context_goes_in_front (void **state)
{
  struct error err = { 0 };

  (void)state;
  error_errno (&err, EBUSY, "mount proc");
  assert_int_equal (error_context (&err, "container %s", "web"), -EBUSY);
  assert_string_equal (err.message, "container web: mount proc: EBUSY");
  assert_int_equal (err.code, -EBUSY);
}

static void test_context_of_any_length (void **state)
{
  struct error err = { 0 };
  char text[2 * ERROR_MESSAGE_MAX];

  (void)state;
  for (size_t len = ERROR_MESSAGE_MAX - 8; len < ERROR_MESSAGE_MAX + 8; len++)
    {
      memset (text, 'c', len);
      text[len] = '\0';
      error_set (&err, -EBUSY, "inner sentence");
      assert_int_equal (error_context (&err, "%s", text), -EBUSY);
      assert_true (strlen (err.message) < ERROR_MESSAGE_MAX);
      assert_int_equal (err.message[0], 'c');
      assert_string_equal (err.message + strlen (err.message) - 3, "...");
    }
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_set_gives_code_and_sentence),
    cmocka_unit_test (test_null_error_still_returns_the_code),
    cmocka_unit_test (test_a_lost_errno_is_no_success),
    cmocka_unit_test (test_errno_is_named_not_spelled),
    cmocka_unit_test (test_long_sentence_is_cut_and_marked),
    cmocka_unit_test (test_longest_uncut_sentence),
    cmocka_unit_test (test_sentence_stays_on_one_line),
    cmocka_unit_test (test_context_goes_in_front),
    cmocka_unit_test (test_context_of_any_length),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
