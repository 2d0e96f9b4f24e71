/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time as text.  gmtime_r(3) would do, but reads the file of the local time zone first.
 */
#pragma once

#include <time.h>

/* "2026-01-31", and "2026-01-31T23:59:59.000000000Z" (RFC 3339).  */
#define UTC_DATE_SIZE 11
#define UTC_TIME_SIZE 31
const char *utc_date (time_t when, char buf[UTC_DATE_SIZE]);
const char *utc_time (const struct timespec *when, char buf[UTC_TIME_SIZE]);
