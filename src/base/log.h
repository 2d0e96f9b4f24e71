/* SPDX-License-Identifier: Apache-2.0 */
/* The log that an engine reads: one JSON or text line a message, to a file, stderr, journald or
   syslog.  Engines show their user only the last line of level error (cli.md), so a failing command
   writes exactly one.  The only module with static state.  */
#pragma once

#include "base/error.h"

enum log_level
{
  LOG_LEVEL_ERROR,
  LOG_LEVEL_WARNING,
  LOG_LEVEL_INFO,
  LOG_LEVEL_DEBUG
};

/* DEST: NULL (stderr), a path, "file:PATH", "journald:ID" or "syslog:ID".  FORMAT: "text" or
   "json", NULL is text.  A path is opened with O_APPEND|O_CREAT|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC,
   mode 0600.  */
int log_open (const char *dest, const char *format, enum log_level level, struct error *err);

/* "error", "warning", "info", "debug" -> level; -EINVAL else.  */
int log_level_parse (const char *name, enum log_level *ret);

void log_write (enum log_level level, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
void log_close (void);
