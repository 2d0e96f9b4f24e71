/* SPDX-License-Identifier: Apache-2.0 */
/* A place to try resolve in: a tmpfs in a mount namespace of the test's own, and questions asked as
   JSON. Root only; the tests say so and skip else.  */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "spec/resolve.h"

static char place[] = "/tmp/agentrun-spec-XXXXXX";
static pid_t place_owner;

/* In a child of a test, cmocka would go on with the parent's tests.  */
#define FAIL(...)                                                                                  \
  do                                                                                               \
    if (getpid () == place_owner)                                                                  \
      fail_msg (__VA_ARGS__);                                                                      \
    else                                                                                           \
      {                                                                                            \
        fprintf (stderr, __VA_ARGS__);                                                             \
        _exit (1);                                                                                 \
      }                                                                                            \
  while (0)

/* The namespace ends with the program, and all its mounts with it.  */
static int place_setup (void **state)
{
  (void)state;
  if (geteuid () != 0)
    {
      print_message ("not root: skipped\n");
      return 0;
    }
  place_owner = getpid ();
  if (mkdtemp (place) == NULL || unshare (CLONE_NEWNS) < 0
      || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
      || mount ("tmpfs", place, "tmpfs", 0, "mode=755") < 0 || chdir (place) < 0)
    return -1;
  return 0;
}

static int place_teardown (void **state)
{
  (void)state;
  if (geteuid () == 0 && (chdir ("/") < 0 || umount2 (place, MNT_DETACH) < 0 || rmdir (place) < 0))
    return -1;
  return 0;
}

#define ROOT_ONLY()                                                                                \
  do                                                                                               \
    {                                                                                              \
      (void)state;                                                                                 \
      if (geteuid () != 0)                                                                         \
        skip ();                                                                                   \
    }                                                                                              \
  while (0)

static void make_dir (const char *path)
{
  assert_true (mkdir (path, 0755) == 0 || errno == EEXIST);
}

static void make_file (const char *path, const char *text)
{
  FILE *f = fopen (path, "w");

  assert_non_null (f);
  assert_true (fputs (text, f) >= 0);
  assert_int_equal (fclose (f), 0);
}

/* A socket bound at PATH; closing the result leaves a dead one.  */
__attribute__ ((unused)) static int make_socket (const char *path, int type)
{
  struct sockaddr_un a = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, type | SOCK_CLOEXEC, 0);

  snprintf (a.sun_path, sizeof a.sun_path, "%s", path);
  assert_true (fd >= 0);
  assert_int_equal (bind (fd, (struct sockaddr *)&a, sizeof a), 0);
  if (type != SOCK_DGRAM)
    assert_int_equal (listen (fd, 1), 0);
  return fd;
}

/* Answers FORMAT's questions; `'` stands for `"`, and @ for the place.  */
static struct facts *ask (struct arena *arena, struct resolved *ret, const char *format)
{
  struct oci_report report = { 0 };
  struct questions *questions = NULL;
  struct error err = { 0 };
  char *text = arena_alloc (arena, strlen (format) * sizeof place + 1);
  char *to = text;

  for (const char *s = format; *s != '\0'; s++)
    if (*s == '@')
      to = stpcpy (to, place);
    else
      *to++ = *s == '\'' ? '"' : *s;
  if (questions_parse (arena, text, strlen (text), 0, &report, &questions) < 0)
    FAIL ("%s: %s", text, report.errors[0].message);
  if (spec_resolve (questions, arena, ret, &err) < 0)
    FAIL ("%s", err.message);
  return ret->facts;
}

/* The one thing of PATH (of KIND, unless NULL) that a walk found, or NULL.  */
__attribute__ ((unused)) static const struct fact_found *
found_at (const struct fact_walk *walk, const char *path, const char *kind)
{
  for (size_t i = 0; i < walk->found_len; i++)
    if (strcmp (walk->found[i].path, path) == 0
        && (kind == NULL || strcmp (walk->found[i].kind, kind) == 0))
      return &walk->found[i];
  return NULL;
}

/* Runs FUNCTION in a child, so that it can change what a process can't take back.  */
__attribute__ ((unused)) static void in_child (void (*function) (void))
{
  int status;
  pid_t pid = fork ();

  assert_true (pid >= 0);
  if (pid == 0)
    {
      function ();
      _exit (0);
    }
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_int_equal (status, 0);
}

#define CHILD_CHECK(condition)                                                                     \
  do                                                                                               \
    if (!(condition))                                                                              \
      {                                                                                            \
        fprintf (stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                           \
        _exit (1);                                                                                 \
      }                                                                                            \
  while (0)
