/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/path.c in a directory of its own below TMPDIR: look-ups stay inside the root, whatever
   its links say.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"

struct place
{
  char dir[256]; /* the world outside */
  int fd;
  int root; /* DIR/root */
};

static int setup (void **state)
{
  struct place *p = calloc (1, sizeof (*p));
  const char *tmp = getenv ("TMPDIR");

  if (p == NULL)
    return -1;
  snprintf (p->dir, sizeof (p->dir), "%s/agentrun-test-path-XXXXXX", tmp != NULL ? tmp : "/tmp");
  if (mkdtemp (p->dir) == NULL)
    return -1;
  umask (022);
  p->fd = open (p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (mkdirat (p->fd, "root", 0755) < 0)
    return -1;
  p->root = openat (p->fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  *state = p;
  return p->root >= 0 ? 0 : -1;
}

static int teardown (void **state)
{
  struct place *p = *state;
  char command[300];

  close (p->root);
  close (p->fd);
  snprintf (command, sizeof (command), "rm -rf '%s'", p->dir);
  int r = system (command);
  free (p);
  return r;
}

static void make_file (int dirfd, const char *name, const char *text)
{
  cleanup_close int fd = openat (dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), strlen (text));
}

static bool is_same (int a, int b)
{
  struct stat x, y;

  assert_int_equal (fstat (a, &x), 0);
  assert_int_equal (fstat (b, &y), 0);
  return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool exists (int dirfd, const char *name)
{
  struct stat st;

  return fstatat (dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_open_stays_in_root (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };

  make_file (p->fd, "secret", "outside");
  make_file (p->root, "secret", "inside");
  assert_int_equal (symlinkat ("/secret", p->root, "absolute"), 0);
  assert_int_equal (symlinkat ("../../../secret", p->root, "climbing"), 0);

  cleanup_close int inside = openat (p->root, "secret", O_RDONLY | O_CLOEXEC);
  static const char *const names[] = { "secret", "/secret", "absolute", "climbing", "../secret" };
  for (size_t i = 0; i < ARRAY_SIZE (names); i++)
    {
      cleanup_close int fd = path_open_in_root (p->root, names[i], O_RDONLY, &err);
      assert_true (fd >= 0);
      assert_true (is_same (fd, inside));
      assert_int_equal (fcntl (fd, F_GETFD), FD_CLOEXEC);
    }
}

static void test_open_words_the_error (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };

  assert_int_equal (path_open_in_root (p->root, "/no\nfile", O_RDONLY, &err), -ENOENT);
  assert_string_equal (err.message, "open /no\\x0afile inside the root: ENOENT");
}

static void test_magic_links_are_refused (void **state)
{
  (void)state;
  cleanup_close int proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  cleanup_close int plain = path_openat2 (proc, "self/status", O_RDONLY, 0, RESOLVE_NO_MAGICLINKS);
  assert_true (plain >= 0);
  assert_int_equal (path_open_in_root (proc, "self/exe", O_RDONLY, NULL), -ELOOP);
  assert_int_equal (path_open_in_root (proc, "self/root", O_PATH, NULL), -ELOOP);
}

static void test_make_directories (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };
  bool made = false;
  cleanup_close int fd = -1, again = -1;
  struct stat st;

  assert_int_equal (
      path_make_in_root (p->root, "/a//b/./c/", PATH_DIRECTORY, 0750, &made, &fd, &err), 0);
  assert_true (made);
  assert_int_equal (fcntl (fd, F_GETFL) & O_PATH, O_PATH);
  assert_int_equal (fstatat (p->root, "a/b/c", &st, 0), 0);
  assert_int_equal (st.st_mode, S_IFDIR | 0750);
  assert_int_equal (fstatat (p->root, "a", &st, 0), 0);
  assert_int_equal (st.st_mode, S_IFDIR | 0750);

  assert_int_equal (path_make_in_root (p->root, "a/b/c", PATH_DIRECTORY, 0755, &made, &again, &err),
                    0);
  assert_false (made);
  assert_true (is_same (fd, again));
}

static void test_make_file (void **state)
{
  struct place *p = *state;
  bool made = false;
  cleanup_close int fd = -1, again = -1;
  struct stat st;

  assert_int_equal (path_make_in_root (p->root, "/etc/hosts", PATH_FILE, 0755, &made, &fd, NULL),
                    0);
  assert_true (made);
  assert_int_equal (fstat (fd, &st), 0);
  assert_int_equal (st.st_mode, S_IFREG | 0644);
  assert_int_equal (st.st_size, 0);

  make_file (p->root, "etc/hosts", "127.0.0.1");
  assert_int_equal (path_make_in_root (p->root, "etc/hosts", PATH_FILE, 0755, &made, &again, NULL),
                    0);
  assert_false (made);
  assert_int_equal (fstat (again, &st), 0);
  assert_int_equal (st.st_size, 9);
}

static void test_root_itself (void **state)
{
  struct place *p = *state;
  bool made = true;
  static const char *const names[] = { "/", "", ".", "..", "/../..", "./." };

  for (size_t i = 0; i < ARRAY_SIZE (names); i++)
    {
      cleanup_close int fd = -1;
      assert_int_equal (
          path_make_in_root (p->root, names[i], PATH_DIRECTORY, 0755, &made, &fd, NULL), 0);
      assert_true (is_same (fd, p->root));
      assert_false (made);
    }
}

static void test_wrong_kind (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };
  int fd = -7;
  bool made = true;

  make_file (p->root, "file", "x");
  assert_int_equal (mkdirat (p->root, "dir", 0755), 0);
  assert_int_equal (path_make_in_root (p->root, "file", PATH_DIRECTORY, 0755, &made, &fd, &err),
                    -ENOTDIR);
  assert_int_equal (path_make_in_root (p->root, "file/x", PATH_FILE, 0755, &made, &fd, &err),
                    -ENOTDIR);
  assert_int_equal (path_make_in_root (p->root, "dir", PATH_FILE, 0755, &made, &fd, &err), -EISDIR);
  assert_string_equal (err.message, "dir inside the root is there, but is a directory");
  assert_int_equal (fd, -7);
  assert_true (made);
}

/* The links that images carry: /var/run -> /run, /etc/resolv.conf -> ../run/..., not there yet.  */
static void test_dangling_links_are_made_inside (void **state)
{
  struct place *p = *state;
  cleanup_close int one = -1, two = -1, three = -1;
  bool made = false;

  assert_int_equal (mkdirat (p->root, "etc", 0755), 0);
  assert_int_equal (mkdirat (p->root, "var", 0755), 0);
  assert_int_equal (symlinkat ("/run", p->root, "var/run"), 0);
  assert_int_equal (symlinkat ("../../../run/resolve/stub", p->root, "etc/resolv.conf"), 0);
  assert_int_equal (symlinkat ("sibling/deep", p->root, "etc/relative"), 0);

  assert_int_equal (
      path_make_in_root (p->root, "/var/run/lock", PATH_DIRECTORY, 0755, &made, &one, NULL), 0);
  assert_true (made);
  assert_true (exists (p->root, "run/lock"));
  assert_int_equal (
      path_make_in_root (p->root, "/etc/resolv.conf", PATH_FILE, 0755, &made, &two, NULL), 0);
  assert_true (made);
  assert_true (exists (p->root, "run/resolve/stub"));
  assert_int_equal (
      path_make_in_root (p->root, "/etc/relative/x", PATH_FILE, 0755, &made, &three, NULL), 0);
  assert_true (exists (p->root, "etc/sibling/deep/x"));
  assert_false (exists (p->fd, "run"));
}

/* Who says that it is missing may be wrong by then.  */
static void test_what_is_said_to_be_missing (void **state)
{
  struct place *p = *state;
  cleanup_close int there = -1, dangling = -1, fresh = -1, deep = -1, file = -1;
  bool made = true;

  assert_int_equal (mkdirat (p->root, "there", 0755), 0);
  assert_int_equal (symlinkat ("/target", p->root, "dangling"), 0);
  assert_int_equal (
      path_make_missing_in_root (p->root, "/there", PATH_DIRECTORY, 0755, &made, &there, NULL), 0);
  assert_false (made);
  assert_int_equal (path_make_missing_in_root (p->root, "/dangling", PATH_DIRECTORY, 0755, &made,
                                               &dangling, NULL),
                    0);
  assert_true (exists (p->root, "target"));
  assert_int_equal (
      path_make_missing_in_root (p->root, "/there/new", PATH_DIRECTORY, 0755, &made, &fresh, NULL),
      0);
  assert_true (made);
  assert_int_equal (
      path_make_missing_in_root (p->root, "/a/b/../c", PATH_DIRECTORY, 0755, &made, &deep, NULL),
      0);
  assert_true (exists (p->root, "a/c"));
  assert_int_equal (
      path_make_missing_in_root (p->root, "there", PATH_FILE, 0755, &made, &file, NULL), -EISDIR);
}

static void test_dot_dot_after_a_link (void **state)
{
  struct place *p = *state;
  cleanup_close int fd = -1;

  assert_int_equal (mkdirat (p->root, "real", 0755), 0);
  assert_int_equal (mkdirat (p->root, "real/deep", 0755), 0);
  assert_int_equal (symlinkat ("/real/deep", p->root, "link"), 0);
  assert_int_equal (path_make_in_root (p->root, "link/../new", PATH_FILE, 0755, NULL, &fd, NULL),
                    0);
  assert_true (exists (p->root, "real/new"));
}

static void test_looping_links_end (void **state)
{
  struct place *p = *state;
  int fd = -1;
  char name[32], target[64];

  assert_int_equal (symlinkat ("loop", p->root, "loop"), 0);
  assert_int_equal (path_make_in_root (p->root, "loop", PATH_FILE, 0755, NULL, &fd, NULL), -ELOOP);

  /* Each link alone is dangling, so the kernel's own count never fills.  */
  for (int i = 0; i < 60; i++)
    {
      snprintf (name, sizeof (name), "l%d", i);
      snprintf (target, sizeof (target), "m%d/../l%d", i, i + 1);
      assert_int_equal (symlinkat (target, p->root, name), 0);
    }
  assert_int_equal (path_make_in_root (p->root, "l0", PATH_FILE, 0755, NULL, &fd, NULL), -ELOOP);
  assert_int_equal (fd, -1);
}

struct race
{
  int root;
  atomic_bool stop;
};

/* What a hostile image's other process could do: the directory becomes a link to the outside, goes
   away, comes back.  */
static void *swap (void *arg)
{
  struct race *r = arg;

  while (!atomic_load (&r->stop))
    {
      (void)!symlinkat ("../../outside", r->root, "victim");
      (void)!unlinkat (r->root, "victim", 0);
      (void)!mkdirat (r->root, "victim", 0755);
      (void)!unlinkat (r->root, "victim/made", AT_REMOVEDIR);
      (void)!unlinkat (r->root, "victim", AT_REMOVEDIR);
    }
  return NULL;
}

static void test_racing_swap_never_leads_out (void **state)
{
  struct place *p = *state;
  struct race race = { .root = p->root };
  pthread_t thread;
  int worked = 0;

  assert_int_equal (mkdirat (p->fd, "outside", 0755), 0);
  assert_int_equal (pthread_create (&thread, NULL, swap, &race), 0);
  for (int i = 0; i < 2000; i++)
    {
      cleanup_close int fd = -1;
      int r = path_make_in_root (p->root, "victim/made", PATH_DIRECTORY, 0755, NULL, &fd, NULL);
      worked += r == 0;
    }
  atomic_store (&race.stop, true);
  pthread_join (thread, NULL);
  assert_false (exists (p->fd, "outside/made"));
  assert_true (worked > 0);
}

struct maker
{
  int root;
  pthread_barrier_t *start;
  int failed;
};

static void *make_many (void *arg)
{
  struct maker *m = arg;
  char name[32];

  for (int i = 0; i < 500; i++)
    {
      cleanup_close int fd = -1;
      snprintf (name, sizeof (name), "%d/a/b", i);
      pthread_barrier_wait (m->start);
      m->failed += path_make_in_root (m->root, name, PATH_DIRECTORY, 0755, NULL, &fd, NULL) < 0;
    }
  return NULL;
}

/* What the other one made between our look and our mkdir is taken, and is no error.  */
static void test_two_makers_both_succeed (void **state)
{
  struct place *p = *state;
  pthread_barrier_t start;
  struct maker one = { p->root, &start, 0 }, other = { p->root, &start, 0 };
  pthread_t thread;

  assert_int_equal (pthread_barrier_init (&start, NULL, 2), 0);
  assert_int_equal (pthread_create (&thread, NULL, make_many, &other), 0);
  make_many (&one);
  pthread_join (thread, NULL);
  pthread_barrier_destroy (&start);
  assert_int_equal (one.failed + other.failed, 0);
}

static void test_path_of_fd (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };
  cleanup_free char *path = NULL;
  char *none = NULL;

  assert_int_equal (path_of_fd (p->fd, &path, &err), 0);
  assert_string_equal (path, p->dir);
  assert_int_equal (path_of_fd (9999, &none, &err), -ENOENT);
  assert_null (none);
  assert_string_equal (fd_path (42).path, "/proc/self/fd/42");
}

static void test_path_of_fd_longer_than_the_first_buffer (void **state)
{
  struct place *p = *state;
  char name[201];
  cleanup_close int outer = -1, inner = -1;
  cleanup_free char *path = NULL;

  memset (name, 'n', 200);
  name[200] = '\0';
  assert_int_equal (mkdirat (p->fd, name, 0755), 0);
  outer = openat (p->fd, name, O_PATH | O_CLOEXEC);
  assert_int_equal (mkdirat (outer, name, 0755), 0);
  inner = openat (outer, name, O_PATH | O_CLOEXEC);
  assert_int_equal (path_of_fd (inner, &path, NULL), 0);
  assert_int_equal (strlen (path), strlen (p->dir) + 402);
}

static void test_normalize (void **state)
{
  static const char *const cases[][2] = {
    { "/", "/" },
    { "", "/" },
    { "//a///b/", "/a/b" },
    { "/a/./b/.", "/a/b" },
    { "/a/../b", "/b" },
    { "/../..", "/" },
    { "a/b", "/a/b" },
    { "/a/..", "/" },
    { "/a/b/../..", "/" },
    { "..a", "/..a" },
    { "/a/...", "/a/..." },
    { "/.a/..b", "/.a/..b" },
    { "/a/b/../../c", "/c" },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      cleanup_free char *path = path_normalize (cases[i][0]);
      assert_string_equal (path, cases[i][1]);
    }
}

static void test_read_file (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };
  cleanup_free char *text = NULL;
  char *none = NULL;
  size_t len = 0;

  make_file (p->root, "file", "content");
  make_file (p->fd, "outside", "secret");
  assert_int_equal (symlinkat ("file", p->root, "link"), 0);
  assert_int_equal (mkfifoat (p->root, "fifo", 0644), 0);

  assert_int_equal (path_read_file (p->root, "file", 7, &text, &len, &err), 0);
  assert_string_equal (text, "content");
  assert_int_equal (len, 7);
  assert_int_equal (path_read_file (p->root, "file", 6, &none, &len, &err), -EFBIG);
  assert_int_equal (path_read_file (p->root, "link", 99, &none, &len, &err), -ELOOP);
  assert_int_equal (path_read_file (p->root, "../outside", 99, &none, &len, &err), -EXDEV);
  assert_int_equal (path_read_file (p->root, ".", 99, &none, &len, &err), -EINVAL);
  /* Without a writer an open for reading would wait for ever.  */
  assert_int_equal (path_read_file (p->root, "fifo", 99, &none, &len, &err), -EINVAL);
  assert_string_equal (err.message, "read fifo: it is not a regular file");
  assert_null (none);
}

static void test_write_file (void **state)
{
  struct place *p = *state;
  struct error err = { 0 };
  cleanup_free char *text = NULL;
  size_t len;

  assert_int_equal (path_write_file (p->root, "knob", "1", &err), -ENOENT);
  assert_false (exists (p->root, "knob"));
  make_file (p->root, "knob", "");
  assert_int_equal (path_write_file (p->root, "knob", "512", &err), 0);
  assert_int_equal (path_read_file (p->root, "knob", 99, &text, &len, &err), 0);
  assert_string_equal (text, "512");
  assert_int_equal (path_write_file (AT_FDCWD, "/dev/full", "5\n", &err), -ENOSPC);
  assert_string_equal (err.message, "write 5\\x0a to /dev/full: ENOSPC");
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_open_stays_in_root, setup, teardown),
    cmocka_unit_test_setup_teardown (test_open_words_the_error, setup, teardown),
    cmocka_unit_test_setup_teardown (test_magic_links_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_make_directories, setup, teardown),
    cmocka_unit_test_setup_teardown (test_make_file, setup, teardown),
    cmocka_unit_test_setup_teardown (test_root_itself, setup, teardown),
    cmocka_unit_test_setup_teardown (test_wrong_kind, setup, teardown),
    cmocka_unit_test_setup_teardown (test_dangling_links_are_made_inside, setup, teardown),
    cmocka_unit_test_setup_teardown (test_what_is_said_to_be_missing, setup, teardown),
    cmocka_unit_test_setup_teardown (test_dot_dot_after_a_link, setup, teardown),
    cmocka_unit_test_setup_teardown (test_looping_links_end, setup, teardown),
    cmocka_unit_test_setup_teardown (test_racing_swap_never_leads_out, setup, teardown),
    cmocka_unit_test_setup_teardown (test_two_makers_both_succeed, setup, teardown),
    cmocka_unit_test_setup_teardown (test_path_of_fd, setup, teardown),
    cmocka_unit_test_setup_teardown (test_path_of_fd_longer_than_the_first_buffer, setup, teardown),
    cmocka_unit_test_setup_teardown (test_normalize, setup, teardown),
    cmocka_unit_test_setup_teardown (test_read_file, setup, teardown),
    cmocka_unit_test_setup_teardown (test_write_file, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
