/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of src/linux: runs a body in a child of its own, in fresh namespaces, so that whatever
   it does ends with it.  A failed CHECK says what and where, and ends the child.  */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define CHECK(condition)                                                                           \
  do                                                                                               \
    if (!(condition))                                                                              \
      {                                                                                            \
        fprintf (stderr, "# %s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                 \
        _exit (1);                                                                                 \
      }                                                                                            \
  while (0)

/* A call that must work; prints its sentence if it does not.  Uses a variable `err`.  */
#define CHECK_OK(call)                                                                             \
  do                                                                                               \
    {                                                                                              \
      int r_ = (call);                                                                             \
      if (r_ < 0)                                                                                  \
        fprintf (stderr, "# %s:%d: %s\n", __FILE__, __LINE__, err.message);                        \
      CHECK (r_ == 0 && #call);                                                                    \
    }                                                                                              \
  while (0)

/* A call that must fail with CODE and a sentence that contains TEXT.  */
#define CHECK_FAILS(call, expected_code, text)                                                     \
  do                                                                                               \
    {                                                                                              \
      int r_ = (call);                                                                             \
      if (r_ != (expected_code) || strstr (err.message, text) == NULL)                             \
        fprintf (stderr, "# %s:%d: %d \"%s\"\n", __FILE__, __LINE__, r_, err.message);             \
      CHECK (r_ == (expected_code) && #call);                                                      \
      CHECK (strstr (err.message, text) != NULL);                                                  \
    }                                                                                              \
  while (0)

static inline int child_status (pid_t pid)
{
  int status;
  if (pid < 0 || waitpid (pid, &status, 0) != pid)
    return -1;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

/* 0 if BODY returned.  FLAGS: CLONE_NEW* of the child; with CLONE_NEWPID the body runs as its
   pid 1.  In a new mount namespace everything is private.  */
static inline int child_run (int flags, void (*body) (void))
{
  fflush (NULL);
  pid_t pid = fork ();
  if (pid != 0)
    return child_status (pid);
  if (unshare (flags) < 0
      || ((flags & CLONE_NEWNS) && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
    {
      perror ("# unshare");
      _exit (1);
    }
  if (flags & CLONE_NEWPID)
    {
      pid_t inner = fork ();
      if (inner != 0)
        _exit (child_status (inner) & 0xff);
    }
  body ();
  _exit (0);
}

/* For main: says in TAP that all is skipped, because cmocka's own skip is "not ok", a failure.  */
static inline bool skip_all_without_root (void)
{
  if (geteuid () == 0)
    return false;
  puts ("1..0 # SKIP needs root");
  return true;
}

/* The first line of FILE, without its end.  Static storage.  */
static inline const char *first_line (const char *file)
{
  static char line[4096];
  FILE *f = fopen (file, "re");
  if (f == NULL || fgets (line, sizeof (line), f) == NULL)
    line[0] = '\0';
  if (f != NULL)
    fclose (f);
  line[strcspn (line, "\n")] = '\0';
  return line;
}

static inline void write_file (int dirfd, const char *path, const char *text)
{
  int fd = openat (dirfd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  CHECK (fd >= 0 && write (fd, text, strlen (text)) == (ssize_t)strlen (text) && close (fd) == 0);
}
