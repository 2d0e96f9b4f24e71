/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/binary.c: this program executes itself.  As role "run" it protects itself and tells
   over its standard output what it is then; the test plays the container that reaches for its file
   (CVE-2019-5736).  The memory file needs no privilege, the mount needs root.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "linux_child.h"
#include "linux/binary.h"

static struct error err;

/* A forged environment must not count as protection.  */
static int role_run (char **argv)
{
  if (binary_protect (argv, &err) < 0)
    {
      fprintf (stderr, "# %s\n", err.message);
      return 3;
    }
  if (strcmp (argv[1], "run") != 0 || argv[2] == NULL || getenv ("KEPT") == NULL)
    return 4;
  struct statvfs fs;
  bool mounted = statvfs ("/proc/self/exe", &fs) == 0 && (fs.f_flag & ST_RDONLY);
  char report = !binary_is_protected () ? 'n' : mounted ? 'm' : 's';
  CHECK (write (1, &report, 1) == 1);
  CHECK (read (0, &report, 1) == 0); /* until the test has looked */
  return 0;
}

struct runner
{
  pid_t pid;
  int in, out;
  char report; /* 'm' mount, 's' sealed memory, 'n' not protected */
};

static bool no_mounts;

static struct runner start (void)
{
  int in[2], out[2];
  CHECK (pipe2 (in, O_CLOEXEC) == 0 && pipe2 (out, O_CLOEXEC) == 0);
  fflush (NULL);
  struct runner runner = { .pid = fork (), .in = in[1], .out = out[0], .report = '?' };
  if (runner.pid == 0)
    {
      char *argv[] = { "agentrun", "run", "with words", NULL };
      char *environment[] = { "KEPT=1", "_LIBCONTAINER_CLONED_BINARY=1", NULL };
      dup2 (in[0], 0);
      dup2 (out[1], 1);
      if (no_mounts)
        CHECK (setresgid (65534, 65534, 65534) == 0 && setresuid (65534, 65534, 65534) == 0);
      execve ("/proc/self/exe", argv, environment);
      _exit (5);
    }
  close (in[0]);
  close (out[1]);
  CHECK (read (runner.out, &runner.report, 1) == 1);
  return runner;
}

static void finish (struct runner *runner)
{
  close (runner->in);
  close (runner->out);
  CHECK (child_status (runner->pid) == 0);
}

static int reopen_for_writing (const char *path)
{
  return open (path, O_WRONLY | O_TRUNC | O_CLOEXEC) >= 0 ? 0 : -errno;
}

/* With all privileges in a mount namespace of one's own, as a privileged container has them: the
   mount's flag is not to be cleared, nor a writable clone made.  */
static void attack_mount (int found)
{
  if (no_mounts)
    return;
  struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };
  CHECK (mount_setattr (found, "", AT_EMPTY_PATH, &writable, sizeof (writable)) < 0);
  CHECK (open_tree (found, "", AT_EMPTY_PATH | OPEN_TREE_CLONE) < 0);
}

/* As root, while it runs and after it has ended.  */
static void attack (void)
{
  struct runner runner = start ();
  char path[64];
  snprintf (path, sizeof (path), "/proc/%d/exe", runner.pid);
  CHECK (runner.report == (no_mounts ? 's' : 'm'));

  struct stat before, after;
  CHECK (stat ("/proc/self/exe", &before) == 0);
  int held = open (path, O_RDONLY | O_CLOEXEC), found = open (path, O_PATH | O_CLOEXEC);
  CHECK (held >= 0 && found >= 0);
  int r = reopen_for_writing (path);
  CHECK (r == -ETXTBSY || r == -EROFS || r == -EPERM);

  attack_mount (found);
  CHECK (unshare (CLONE_NEWNS) == 0);
  attack_mount (found);
  finish (&runner);

  snprintf (path, sizeof (path), "/proc/self/fd/%d", held);
  r = reopen_for_writing (path);
  CHECK (r == (no_mounts ? -EPERM : -EROFS));
  attack_mount (found);
  CHECK (stat ("/proc/self/exe", &after) == 0 && after.st_size == before.st_size);
}

static void test_mount (void **state)
{
  (void)state;
  assert_false (binary_is_protected ());
  no_mounts = false;
  assert_int_equal (child_run (0, attack), 0);
}

static void test_memory (void **state)
{
  (void)state;
  no_mounts = true;
  assert_int_equal (child_run (0, attack), 0);
}

int main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "run") == 0)
    return role_run (argv);
  if (skip_all_without_root ())
    return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_mount),
    cmocka_unit_test (test_memory),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
