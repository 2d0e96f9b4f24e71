/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct error.  Runs in every process, also between fork and exec: no allocation, no lock,
   no privilege.  */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What an errno's name may need behind a sentence: ": EPROTONOSUPPORT", ": errno -2147483648".  */
#define NAME_ROOM 32

/* A failure must not read as success because a caller lost the errno on its way.  */
static int as_failure (int code) { return code < 0 ? code : -EIO; }

/* LEN is what snprintf wanted to write into SIZE bytes: marks a cut, and keeps the sentence on one
   line, as the log format promises.  */
static void finish_message (char *message, size_t size, int len)
{
  if (len < 0)
    message[0] = '\0';
  else if ((size_t)len >= size)
    memcpy (message + size - 4, "...", 4);

  for (char *p = message; *p != '\0'; p++)
    if (*p == '\n' || *p == '\r')
      *p = ' ';
}

int error_set (struct error *err, int code, const char *format, ...)
{
  va_list args;

  code = as_failure (code);
  if (err == NULL)
    return code;

  va_start (args, format);
  int len = vsnprintf (err->message, sizeof (err->message), format, args);
  va_end (args);

  finish_message (err->message, sizeof (err->message), len);
  err->code = code;
  return code;
}

int error_errno (struct error *err, int errnum, const char *format, ...)
{
  int code = as_failure (-errnum);
  va_list args;

  if (err == NULL)
    return code;

  /* The sentence may be cut, the reason behind it not.  */
  va_start (args, format);
  int len = vsnprintf (err->message, sizeof (err->message) - NAME_ROOM, format, args);
  va_end (args);
  finish_message (err->message, sizeof (err->message) - NAME_ROOM, len);

  size_t used = strlen (err->message);
  snprintf (err->message + used, sizeof (err->message) - used, ": %s", errno_name (-code));
  err->code = code;
  return code;
}

int error_context (struct error *err, const char *format, ...)
{
  char context[ERROR_MESSAGE_MAX];
  char whole[ERROR_MESSAGE_MAX];
  va_list args;

  if (err == NULL)
    return -EIO;

  va_start (args, format);
  int len = vsnprintf (context, sizeof (context), format, args);
  va_end (args);
  finish_message (context, sizeof (context), len);

  len = snprintf (whole, sizeof (whole), "%s: %s", context, err->message);
  finish_message (whole, sizeof (whole), len);
  memcpy (err->message, whole, sizeof (err->message));
  err->code = as_failure (err->code);
  return err->code;
}

const char *errno_name (int errnum)
{
  static char unnamed[NAME_ROOM];
  const char *name = strerrorname_np (errnum);

  /* glibc calls 0 "0".  */
  if (name != NULL && errnum != 0)
    return name;
  snprintf (unnamed, sizeof (unnamed), "errno %d", errnum);
  return unnamed;
}
