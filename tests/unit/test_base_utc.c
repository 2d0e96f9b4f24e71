/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/utc.c against the C library's calendar.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/utc.h"

static void check (time_t when)
{
  char date[UTC_DATE_SIZE], text[UTC_TIME_SIZE], wanted[64];
  const struct timespec t = { .tv_sec = when, .tv_nsec = 1020 };
  struct tm tm;
  assert_non_null (gmtime_r (&when, &tm));
  assert_true (strftime (wanted, sizeof wanted, "%Y-%m-%d", &tm) > 0);
  assert_string_equal (utc_date (when, date), wanted);
  assert_true (strftime (wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S.000001020Z", &tm) > 0);
  assert_string_equal (utc_time (&t, text), wanted);
}

static void test_every_day_of_some_centuries (void **state)
{
  (void)state;
  for (time_t day = 0; day < 365 * 500; day++)
    check (day * 86400 + day % 86400);
  check (951782399); /* around 29 February 2000 */
  check (951782400);
  check (951868799);
  check (951868800);
  check (4107542399); /* 28 February 2100 has no 29th behind it */
  check (4107542400);
}

static void test_before_the_beginning (void **state)
{
  char date[UTC_DATE_SIZE];
  (void)state;
  assert_string_equal (utc_date (-1, date), "1970-01-01");
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_day_of_some_centuries),
    cmocka_unit_test (test_before_the_beginning),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
