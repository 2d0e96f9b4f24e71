/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar.  Pure code, any process, no privilege.  */
#include "base/utc.h"

#include <stdbool.h>
#include <stdio.h>

#define DAY_SECONDS 86400

static bool is_leap (long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/* The year, month and day of a day after 1970-01-01.  Every 400 years have the same 146097 days. */
static void civil (long days, long *ret_year, int *ret_month, int *ret_day)
{
  static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  long year = 1970 + days / 146097 * 400;
  int month = 0;

  days %= 146097;
  for (int length = 365 + is_leap (year); days >= length; length = 365 + is_leap (year))
    {
      days -= length;
      year++;
    }
  for (int length = 31; days >= length; length = lengths[month] + (month == 1 && is_leap (year)))
    {
      days -= length;
      month++;
    }
  *ret_year = year;
  *ret_month = month + 1;
  *ret_day = (int)days + 1;
}

const char *utc_date (time_t when, char buf[UTC_DATE_SIZE])
{
  long year;
  int month, day;

  civil (when < 0 ? 0 : when / DAY_SECONDS, &year, &month, &day);
  snprintf (buf, UTC_DATE_SIZE, "%04ld-%02d-%02d", year % 10000, month, day % 32);
  return buf;
}

const char *utc_time (const struct timespec *when, char buf[UTC_TIME_SIZE])
{
  char date[UTC_DATE_SIZE];
  int second = when->tv_sec < 0 ? 0 : (int)(when->tv_sec % DAY_SECONDS);

  snprintf (buf, UTC_TIME_SIZE, "%sT%02d:%02d:%02d.%09ldZ", utc_date (when->tv_sec, date),
            second / 3600, second / 60 % 60, second % 60, when->tv_nsec % 1000000000);
  return buf;
}
