/* SPDX-License-Identifier: Apache-2.0 */
/* src/state in a directory of its own below $TMPDIR.  Needs no privilege; what only root can set up
   is skipped and says so.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "state/internal.h"

static struct error err;

struct fixture
{
  char base[128];
  int base_fd;
  char root[160];
  int fd;
};

static void ok (int r)
{
  if (r < 0)
    fail_msg ("%s", err.message);
}

static int setup (void **state)
{
  struct fixture *f = calloc (1, sizeof (*f));
  const char *tmp = getenv ("TMPDIR");

  snprintf (f->base, sizeof (f->base), "%.80s/agentrun-test-XXXXXX", tmp == NULL ? "/tmp" : tmp);
  assert_non_null (mkdtemp (f->base));
  f->base_fd = open (f->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  snprintf (f->root, sizeof (f->root), "%s/deep/er/root", f->base);
  ok (state_root_open (f->root, true, &f->fd, &err));
  *state = f;
  return 0;
}

static int teardown (void **state)
{
  struct fixture *f = *state;
  char command[200];

  close (f->fd);
  close (f->base_fd);
  snprintf (command, sizeof (command), "rm -rf '%s'", f->base);
  assert_int_equal (system (command), 0);
  free (f);
  return 0;
}

static mode_t mode_of (int dirfd, const char *path)
{
  struct stat st;

  assert_int_equal (fstatat (dirfd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
  return st.st_mode & 07777;
}

static void assert_says (const char *part)
{
  if (strstr (err.message, part) == NULL)
    fail_msg ("\"%s\" lacks \"%s\"", err.message, part);
}

/* ---- root */

static void test_root_is_made_whatever_the_umask (void **state)
{
  struct fixture *f = *state;
  char root[200];
  mode_t old = umask (0277);
  int fd = -1;

  assert_int_equal (mode_of (f->base_fd, "deep"), 0755);
  assert_int_equal (mode_of (f->base_fd, "deep/er/root"), 0700);
  assert_int_equal (fcntl (f->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  snprintf (root, sizeof (root), "%s//other/root/", f->base);
  int r = state_root_open (root, true, &fd, &err);
  umask (old);
  ok (r);
  close (fd);
  assert_int_equal (mode_of (f->base_fd, "other"), 0755);
  assert_int_equal (mode_of (f->base_fd, "other/root"), 0700);
}

static void test_root_missing (void **state)
{
  struct fixture *f = *state;
  char root[200];
  int fd = -1;

  snprintf (root, sizeof (root), "%s/missing/root", f->base);
  assert_int_equal (state_root_open (root, false, &fd, &err), -ENOENT);
  assert_says ("does not exist");
  assert_int_equal (faccessat (f->base_fd, "missing", F_OK, 0), -1);
  assert_int_equal (fd, -1);
  ok (state_root_open (f->root, false, &fd, &err));
  close (fd);
}

static void test_root_that_others_can_write (void **state)
{
  static const mode_t bad[] = { 0770, 0707, 0720, 01777, 0702 };
  struct fixture *f = *state;
  int fd = -1;

  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    {
      assert_int_equal (fchmod (f->fd, bad[i]), 0);
      assert_int_equal (state_root_open (f->root, false, &fd, &err), -EPERM);
      assert_says ("can write");
    }
  /* Readable by others is their owner's choice.  */
  assert_int_equal (fchmod (f->fd, 0755), 0);
  ok (state_root_open (f->root, false, &fd, &err));
  close (fd);
}

static void test_root_parent_that_others_can_write (void **state)
{
  struct fixture *f = *state;
  int fd = -1;

  assert_int_equal (fchmodat (f->base_fd, "deep", 0777, 0), 0);
  assert_int_equal (state_root_open (f->root, true, &fd, &err), -EPERM);
  assert_says ("on the way");
  assert_int_equal (fchmodat (f->base_fd, "deep", 01777, 0), 0);
  ok (state_root_open (f->root, true, &fd, &err));
  close (fd);
}

static void test_root_of_another_user (void **state)
{
  struct fixture *f = *state;
  int fd = -1;

  if (geteuid () != 0)
    {
      print_message ("not root\n");
      skip ();
    }
  assert_int_equal (fchown (f->fd, 12345, 0), 0);
  assert_int_equal (state_root_open (f->root, false, &fd, &err), -EPERM);
  assert_says ("belongs to another user");
  assert_int_equal (fchown (f->fd, 0, 0), 0);
  assert_int_equal (fchownat (f->base_fd, "deep/er", 12345, 0, 0), 0);
  assert_int_equal (state_root_open (f->root, false, &fd, &err), -EPERM);
  assert_says ("on the way belongs to another user");
  /* nobody is an ordinary user outside of user namespaces.  */
  assert_int_equal (fchownat (f->base_fd, "deep/er", 65534, 0, 0), 0);
  assert_int_equal (state_root_open (f->root, false, &fd, &err), -EPERM);
}

static void test_root_links (void **state)
{
  struct fixture *f = *state;
  char path[200];
  int fd = -1;

  assert_int_equal (symlinkat ("deep/er", f->base_fd, "relative"), 0);
  assert_int_equal (symlinkat (f->root, f->base_fd, "absolute"), 0);
  assert_int_equal (symlinkat ("loop", f->base_fd, "loop"), 0);
  snprintf (path, sizeof (path), "%s/relative/root", f->base);
  ok (state_root_open (path, false, &fd, &err));
  close (fd);
  snprintf (path, sizeof (path), "%s/absolute", f->base);
  ok (state_root_open (path, false, &fd, &err));
  struct stat a, b;
  assert_int_equal (fstat (fd, &a), 0);
  assert_int_equal (fstat (f->fd, &b), 0);
  assert_int_equal (a.st_ino, b.st_ino);
  close (fd);
  snprintf (path, sizeof (path), "%s/loop/root", f->base);
  assert_int_equal (state_root_open (path, true, &fd, &err), -ELOOP);
  if (geteuid () == 0)
    {
      assert_int_equal (fchownat (f->base_fd, "absolute", 12345, 0, AT_SYMLINK_NOFOLLOW), 0);
      snprintf (path, sizeof (path), "%s/absolute", f->base);
      assert_int_equal (state_root_open (path, false, &fd, &err), -EPERM);
      assert_says ("link on the way");
    }
}

static void test_root_no_directory (void **state)
{
  static const char *const bad[] = { "", "relative", "/", "//" };
  struct fixture *f = *state;
  char path[200];
  int fd = -1;

  close (openat (f->base_fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  snprintf (path, sizeof (path), "%s/file", f->base);
  assert_int_equal (state_root_open (path, true, &fd, &err), -EPERM);
  assert_says ("not a directory");
  snprintf (path, sizeof (path), "%s/file/root", f->base);
  assert_true (state_root_open (path, true, &fd, &err) < 0);
  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    assert_int_equal (state_root_open (bad[i], true, &fd, &err), -EINVAL);
  assert_int_equal (fd, -1);
}

/* ---- directories */

static void test_dir (void **state)
{
  struct fixture *f = *state;
  int fd = -1, again = -1;

  assert_int_equal (state_dir_open (f->fd, "c1", &fd, &err), -ENOENT);
  assert_string_equal (err.message, "container \"c1\" does not exist");
  ok (state_dir_create (f->fd, "c1", &fd, &err));
  assert_int_equal (mode_of (f->fd, "c1"), 0700);
  assert_int_equal (state_dir_create (f->fd, "c1", &again, &err), -EEXIST);
  assert_says ("container ID c1 exists already");
  ok (state_dir_open (f->fd, "c1", &again, &err));
  close (again);
  close (fd);
  ok (state_dir_remove (f->fd, "c1", &err));
  assert_int_equal (faccessat (f->fd, "c1", F_OK, 0), -1);
  ok (state_dir_remove (f->fd, "c1", &err));
}

static void test_dir_bad_ids (void **state)
{
  static const char *const bad[] = { "", ".", "..", ".hidden", "a/b", "/", "../x", "a/", NULL };
  struct fixture *f = *state;
  int fd = -1;

  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    {
      assert_int_equal (state_dir_create (f->fd, bad[i], &fd, &err), -EINVAL);
      assert_int_equal (state_dir_open (f->fd, bad[i], &fd, &err), -EINVAL);
      assert_int_equal (state_dir_remove (f->fd, bad[i], &err), -EINVAL);
    }
}

static void test_dir_link (void **state)
{
  struct fixture *f = *state;
  int fd = -1;

  ok (state_dir_create (f->fd, "real", &fd, &err));
  close (fd);
  assert_int_equal (symlinkat ("real", f->fd, "link"), 0);
  assert_true (state_dir_open (f->fd, "link", &fd, &err) < 0);
  assert_true (state_dir_remove (f->fd, "link", &err) < 0);
  assert_int_equal (faccessat (f->fd, "real", F_OK, 0), 0);
}

static void test_dir_remove_files (void **state)
{
  static const char *const files[] = { STATE_SOCKET, STATE_FILE, STATE_TEMPORARY };
  struct fixture *f = *state;
  int fd = -1;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  for (size_t i = 0; i < ARRAY_SIZE (files); i++)
    close (openat (fd, files[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  close (openat (fd, "notes", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  assert_int_equal (state_dir_remove (f->fd, "c1", &err), -ENOTEMPTY);
  assert_says ("notes");
  assert_int_equal (unlinkat (fd, "notes", 0), 0);
  close (fd);
  ok (state_dir_remove (f->fd, "c1", &err));
}

static void make_half (int rootfd, const char *id, bool keep)
{
  cleanup_state_dir struct state_half_made half = STATE_NOT_MADE;
  cleanup_close int fd = -1;

  ok (state_dir_create (rootfd, id, &fd, &err));
  half = (struct state_half_made){ .rootfd = rootfd, .id = id };
  if (keep)
    state_dir_keep (&half);
}

static void test_dir_half_made (void **state)
{
  struct fixture *f = *state;

  make_half (f->fd, "half", false);
  assert_int_equal (faccessat (f->fd, "half", F_OK, 0), -1);
  make_half (f->fd, "whole", true);
  assert_int_equal (faccessat (f->fd, "whole", F_OK, 0), 0);
}

/* ---- lock */

static int64_t now_ms (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void test_lock (void **state)
{
  struct fixture *f = *state;
  int fd = -1, first = -1, second = -1;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  ok (state_lock (f->fd, "c1", fd, true, 0, &first, &err));
  int64_t start = now_ms ();
  assert_int_equal (state_lock (f->fd, "c1", fd, true, 100, &second, &err), -EBUSY);
  assert_in_range (now_ms () - start, 90, 5000);
  assert_string_equal (err.message, "another command is working on container c1");
  assert_int_equal (state_lock (f->fd, "c1", fd, false, 0, &second, &err), -EBUSY);
  state_unlock (&first);
  assert_int_equal (first, -1);
  state_unlock (&first);

  ok (state_lock (f->fd, "c1", fd, false, 0, &first, &err));
  ok (state_lock (f->fd, "c1", fd, false, 0, &second, &err));
  state_unlock (&first);
  assert_int_equal (state_lock (f->fd, "c1", fd, true, 0, &first, &err), -EBUSY);
  state_unlock (&second);
  ok (state_lock (f->fd, "c1", fd, true, 0, &first, &err));
  state_unlock (&first);
  close (fd);
}

/* A child with a copy of the descriptor, as init is for a moment, doesn't keep it locked.  */
static void test_lock_and_fork (void **state)
{
  struct fixture *f = *state;
  int fd = -1, first = -1, second = -1;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  ok (state_lock (f->fd, "c1", fd, true, 0, &first, &err));
  pid_t pid = fork ();
  if (pid == 0)
    for (;;)
      pause ();
  state_unlock (&first);
  int r = state_lock (f->fd, "c1", fd, true, 0, &second, &err);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  ok (r);
  state_unlock (&second);
  close (fd);
}

/* Who waits while the container is removed, or removed and made anew, gets no lock on what isn't
   it.  */
static void check_lock_of_gone (struct fixture *f, bool make_anew)
{
  int fd = -1, lock = -1, status = 0;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  ok (state_lock (f->fd, "c1", fd, true, 0, &lock, &err));
  pid_t pid = fork ();
  if (pid == 0)
    {
      /* The copy would be taken for the parent's lock.  */
      close (lock);
      int mine = -1;
      int r = state_lock (f->fd, "c1", fd, true, 5000, &mine, &err);
      _exit (r == -ENOENT && strstr (err.message, "does not exist") != NULL ? 0 : 1);
    }
  usleep (50000);
  ok (state_dir_remove (f->fd, "c1", &err));
  int fresh = -1;
  if (make_anew)
    ok (state_dir_create (f->fd, "c1", &fresh, &err));
  state_unlock (&lock);
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
  close (fd);
  if (fresh >= 0)
    close (fresh);
  ok (state_dir_remove (f->fd, "c1", &err));
}

static void test_lock_of_gone (void **state)
{
  check_lock_of_gone (*state, false);
  check_lock_of_gone (*state, true);
}

/* ---- file */

static struct record_hierarchy hierarchies[] = {
  { .controllers = (char *)"memory", .path = (char *)"/sys/fs/cgroup/memory/x" },
  { .controllers = (char *)"", .path = (char *)"/sys/fs/cgroup/unified/x" },
};

static struct plan_capabilities capabilities;
static struct plan_process process = { .capabilities = &capabilities };
static struct plan_cgroup cgroup = { .path = (char *)"/agentrun-c1" };
static struct plan plan = {
  .id = (char *)"c1",
  .bundle = (char *)"/b",
  .config_digest = (char *)"sha256:0",
  .policy_digest = (char *)"sha256:1",
  .process = &process,
  .cgroup = &cgroup,
};

static struct record sample (void)
{
  return (struct record){
    .plan = &plan,
    .has_version = true,
    .version = 1,
    .status = (char *)"created",
    .created = (char *)"2024-01-02T03:04:05Z",
    .has_pid = true,
    .pid = 4242,
    .has_start_time = true,
    .start_time = UINT64_MAX,
    .has_cgroups = true,
    .cgroups = hierarchies,
    .cgroups_len = 2,
  };
}

static void test_file (void **state)
{
  struct fixture *f = *state;
  cleanup_arena struct arena *arena = arena_new ();
  struct record in = sample (), *out = NULL;
  cleanup_close int fd = -1;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  assert_int_equal (state_read (fd, arena, &out, &err), -ENOENT);
  assert_says ("interrupted");
  mode_t old = umask (0);
  int r = state_write (fd, &in, &err);
  umask (old);
  ok (r);
  assert_int_equal (mode_of (fd, STATE_FILE), 0600);
  assert_int_equal (faccessat (fd, STATE_TEMPORARY, F_OK, 0), -1);
  ok (state_read (fd, arena, &out, &err));
  assert_string_equal (out->status, "created");
  assert_int_equal (out->pid, 4242);
  assert_true (out->start_time == UINT64_MAX);
  assert_int_equal (out->cgroups_len, 2);
  assert_string_equal (out->cgroups[1].controllers, "");
  assert_string_equal (out->cgroups[0].path, "/sys/fs/cgroup/memory/x");

  /* Over an unfinished one, and over the last.  */
  close (openat (fd, STATE_TEMPORARY, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  in.status = (char *)"running";
  ok (state_write (fd, &in, &err));
  ok (state_read (fd, arena, &out, &err));
  assert_string_equal (out->status, "running");
}

static void put (int dirfd, const char *text)
{
  int fd = openat (dirfd, STATE_FILE, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), (ssize_t)strlen (text));
  close (fd);
}

static void test_file_damaged (void **state)
{
  static const struct
  {
    const char *text, *says;
  } cases[] = {
    { "", "damaged" },
    { "{\"version\": 1, \"sta", "damaged" },
    { "[]", "damaged" },
    { "{\"version\": \"1\"}", "damaged" },
    { "{\"version\": 1, \"pid\": 99999999999}", "damaged" },
    { "{\"version\": 1}{}", "damaged" },
    { "{}", "no version" },
    { "{\"ociVersion\": \"1.0\", \"id\": \"x\"}", "no version" },
    { "{\"version\": 1}", "damaged" },
    { "{\"version\": 2}", "version 2" },
    { "{\"version\": 1, \"extra\": 1}", "/extra" },
  };
  struct fixture *f = *state;
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_close int fd = -1;
  struct record *out = NULL;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      put (fd, cases[i].text);
      assert_int_equal (state_read (fd, arena, &out, &err), -EINVAL);
      assert_says (cases[i].says);
      assert_says (STATE_FILE);
      assert_null (out);
    }
}

static void test_file_untrusted (void **state)
{
  struct fixture *f = *state;
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_close int fd = -1;
  struct record in = sample (), *out = NULL;

  ok (state_dir_create (f->fd, "c1", &fd, &err));
  ok (state_write (fd, &in, &err));
  assert_int_equal (fchmodat (fd, STATE_FILE, 0620, 0), 0);
  assert_int_equal (state_read (fd, arena, &out, &err), -EPERM);
  assert_int_equal (fchmodat (fd, STATE_FILE, 0602, 0), 0);
  assert_int_equal (state_read (fd, arena, &out, &err), -EPERM);
  assert_int_equal (fchmodat (fd, STATE_FILE, 0644, 0), 0);
  ok (state_read (fd, arena, &out, &err));
  if (geteuid () == 0)
    {
      assert_int_equal (fchownat (fd, STATE_FILE, 12345, 0, 0), 0);
      assert_int_equal (state_read (fd, arena, &out, &err), -EPERM);
    }
  assert_int_equal (renameat (fd, STATE_FILE, fd, "other"), 0);
  assert_int_equal (symlinkat ("other", fd, STATE_FILE), 0);
  assert_int_equal (state_read (fd, arena, &out, &err), -EPERM);
  assert_int_equal (unlinkat (fd, STATE_FILE, 0), 0);
  assert_int_equal (mkfifoat (fd, STATE_FILE, 0600), 0);
  assert_int_equal (state_read (fd, arena, &out, &err), -EPERM);
}

/* ---- list */

static void test_list (void **state)
{
  struct fixture *f = *state;
  cleanup_arena struct arena *arena = arena_new ();
  char **ids = NULL;
  size_t len = 99;

  ok (state_list (f->fd, arena, &ids, &len, &err));
  assert_int_equal (len, 0);
  for (unsigned i = 0; i < 70; i++)
    {
      char id[16];
      snprintf (id, sizeof (id), "c%02u", 69 - i);
      make_half (f->fd, id, true);
    }
  close (openat (f->fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  assert_int_equal (mkdirat (f->fd, ".hidden", 0700), 0);
  assert_int_equal (symlinkat ("c00", f->fd, "link"), 0);
  /* Twice: the descriptor's position is nobody's business.  */
  for (unsigned round = 0; round < 2; round++)
    {
      ok (state_list (f->fd, arena, &ids, &len, &err));
      assert_int_equal (len, 70);
      assert_string_equal (ids[0], "c00");
      assert_string_equal (ids[69], "c69");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_root_is_made_whatever_the_umask),
    TEST (test_root_missing),
    TEST (test_root_that_others_can_write),
    TEST (test_root_parent_that_others_can_write),
    TEST (test_root_of_another_user),
    TEST (test_root_links),
    TEST (test_root_no_directory),
    TEST (test_dir),
    TEST (test_dir_bad_ids),
    TEST (test_dir_link),
    TEST (test_dir_remove_files),
    TEST (test_dir_half_made),
    TEST (test_lock),
    TEST (test_lock_and_fork),
    TEST (test_lock_of_gone),
    TEST (test_file),
    TEST (test_file_damaged),
    TEST (test_file_untrusted),
    TEST (test_list),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
