/* SPDX-License-Identifier: Apache-2.0 */
/* The one way in which a function of agentrun fails: it returns a negative errno and leaves, in a
   struct that the caller owns, the sentence that a user will read.  Knows nothing of containers;
   runs in every process; needs no privilege and never allocates, so that it works after a fork and
   when memory is short.  */
#pragma once

#include <stddef.h>

/* Long enough for two paths in one sentence; what is longer is cut and ends in "...".  */
#define ERROR_MESSAGE_MAX 4096

struct error
{
  int code;                        /* negative errno, 0 when nothing failed */
  char message[ERROR_MESSAGE_MAX]; /* one line, no newline at its end */
};

/* Sets the sentence and returns CODE (a negative errno), so that a caller writes
   `return error_set (err, -EINVAL, "...")`.  ERR may be NULL.  */
int error_set (struct error *err, int code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* As error_set, and adds the symbolic name of the errno: "mount proc on /proc: EPERM".  ERRNUM is
   positive.  The name, not strerror's words: engines match those words (see cli.md) and would take
   the error for another one.  Returns -ERRNUM.  */
int error_errno (struct error *err, int errnum, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Puts "CONTEXT: " before the sentence and returns err->code.  */
int error_context (struct error *err, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The symbolic name of an errno ("EACCES"), or "errno 4242".  Static storage, reused by the next
   call.  */
const char *errno_name (int errnum);
