/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/seccomp_cache.c in a directory of its own.  Needs root: only root's files are believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/seccomp_cache.h"

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static char parent[64];
static char dir[96];
static char file[256];

static struct sock_filter insns[] = { BPF_STMT (BPF_RET | BPF_K, 0x7fff0000U),
                                      BPF_STMT (BPF_RET | BPF_K, 0x00050001U) };
static const struct seccomp_program sample = { insns, 2, 2 };

static void empty (const char *path)
{
  DIR *list = opendir (path);
  struct dirent *entry;
  char name[512];
  while (list != NULL && (entry = readdir (list)) != NULL)
    {
      snprintf (name, sizeof name, "%s/%s", path, entry->d_name);
      if (!str_equal (entry->d_name, ".") && !str_equal (entry->d_name, ".."))
        unlink (name);
    }
  if (list != NULL)
    closedir (list);
  rmdir (path);
}

static int setup (void **state)
{
  (void)state;
  snprintf (parent, sizeof parent, "/tmp/agentrun-test.XXXXXX");
  if (mkdtemp (parent) == NULL)
    return -1;
  snprintf (dir, sizeof dir, "%s/cache", parent);
  snprintf (file, sizeof file, "%s/%s", dir, KEY_A);
  return 0;
}

static int teardown (void **state)
{
  (void)state;
  empty (dir);
  empty (parent);
  return access (parent, F_OK) == 0 ? -1 : 0;
}

static void need_root (void)
{
  if (geteuid () != 0)
    skip ();
}

static int load (const char *key)
{
  struct seccomp_program program = { 0 };
  int r = seccomp_cache_load (dir, key, &program);
  if (r == 0)
    {
      assert_int_equal (program.len, sample.len);
      assert_int_equal (program.flags, sample.flags);
      assert_memory_equal (program.filter, sample.filter, sizeof insns);
    }
  else
    assert_null (program.filter);
  seccomp_program_free (&program);
  return r;
}

static void store (void) { assert_int_equal (seccomp_cache_store (dir, KEY_A, &sample), 0); }

static void test_what_is_stored_comes_back (void **state)
{
  struct stat st;
  (void)state;
  need_root ();
  assert_int_equal (load (KEY_A), -ENOENT);
  store ();
  assert_int_equal (load (KEY_A), 0);
  assert_int_equal (load (KEY_B), -ENOENT);
  store (); /* once more over itself */
  assert_int_equal (load (KEY_A), 0);
  assert_int_equal (stat (dir, &st), 0);
  assert_int_equal (st.st_mode & 07777, 0700);
  assert_int_equal (stat (file, &st), 0);
  assert_int_equal (st.st_mode & 07777, 0600);
}

/* Every byte counts, and the length.  */
static void test_damaged_files_are_refused (void **state)
{
  char data[512];
  (void)state;
  need_root ();
  store ();
  int fd = open (file, O_RDWR);
  ssize_t size = read (fd, data, sizeof data);
  assert_true (size > 64 && size < (ssize_t)sizeof data);
  for (ssize_t i = 0; i < size; i++)
    {
      char other = (char)(data[i] ^ 1);
      assert_int_equal (pwrite (fd, &other, 1, i), 1);
      assert_int_equal (load (KEY_A), -EBADMSG);
      assert_int_equal (pwrite (fd, &data[i], 1, i), 1);
    }
  assert_int_equal (load (KEY_A), 0);
  assert_int_equal (pwrite (fd, "x", 1, size), 1);
  assert_int_equal (load (KEY_A), -EBADMSG);
  for (ssize_t i = size - 1; i >= 0; i -= 7)
    {
      assert_int_equal (ftruncate (fd, i), 0);
      assert_int_equal (load (KEY_A), -EBADMSG);
    }
  close (fd);
}

/* Good content by the wrong name: another profile's program.  */
static void test_a_file_of_another_key_is_refused (void **state)
{
  char other[256];
  (void)state;
  need_root ();
  store ();
  snprintf (other, sizeof other, "%s/%s", dir, KEY_B);
  assert_int_equal (rename (file, other), 0);
  assert_int_equal (load (KEY_B), -EBADMSG);
}

static void test_untrusted_files_are_refused (void **state)
{
  char other[256];
  (void)state;
  need_root ();
  snprintf (other, sizeof other, "%s/%s", parent, "other");
  static const mode_t modes[] = { 0620, 0602, 0640, 0604, 0610 };
  store ();
  for (size_t i = 0; i < ARRAY_SIZE (modes); i++)
    {
      assert_int_equal (chmod (file, modes[i]), 0);
      assert_int_equal (load (KEY_A), -EPERM);
    }
  assert_int_equal (chmod (file, 0600), 0);
  assert_int_equal (chown (file, 1, 0), 0);
  assert_int_equal (load (KEY_A), -EPERM);
  assert_int_equal (chown (file, 0, 0), 0);
  assert_int_equal (load (KEY_A), 0);
  assert_int_equal (link (file, other), 0);
  assert_int_equal (load (KEY_A), -EPERM);
  assert_int_equal (unlink (file), 0);
  assert_int_equal (symlink (other, file), 0);
  assert_int_equal (load (KEY_A), -ELOOP);
  assert_int_equal (unlink (file), 0);
  assert_int_equal (mkfifo (file, 0600), 0);
  assert_int_equal (load (KEY_A), -EPERM);
}

static void test_untrusted_directories_are_refused (void **state)
{
  char other[96];
  (void)state;
  need_root ();
  snprintf (other, sizeof other, "%s/other", parent);
  assert_int_equal (mkdir (dir, 0755), 0);
  assert_int_equal (seccomp_cache_store (dir, KEY_A, &sample), -EPERM);
  assert_int_equal (chmod (dir, 0700), 0);
  assert_int_equal (chown (dir, 1, 0), 0);
  assert_int_equal (seccomp_cache_store (dir, KEY_A, &sample), -EPERM);
  assert_int_equal (load (KEY_A), -ENOENT);
  assert_int_equal (rename (dir, other), 0);
  assert_int_equal (symlink (other, dir), 0);
  assert_int_equal (seccomp_cache_store (dir, KEY_A, &sample), -ELOOP);
  assert_int_equal (unlink (dir), 0);
  assert_int_equal (rmdir (other), 0);
}

static size_t count_files (void)
{
  DIR *list = opendir (dir);
  size_t n = 0;
  assert_non_null (list);
  for (struct dirent *e = readdir (list); e != NULL; e = readdir (list))
    n += e->d_name[0] != '.';
  closedir (list);
  return n;
}

static void test_the_oldest_goes (void **state)
{
  const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
  char key[SECCOMP_CACHE_KEY_SIZE];
  (void)state;
  need_root ();
  store ();
  assert_int_equal (utimensat (AT_FDCWD, file, old, 0), 0);
  for (int i = 1; i < SECCOMP_CACHE_ENTRIES; i++)
    {
      snprintf (key, sizeof key, "%064d", i);
      assert_int_equal (seccomp_cache_store (dir, key, &sample), 0);
    }
  assert_int_equal (count_files (), SECCOMP_CACHE_ENTRIES);
  assert_int_equal (load (KEY_A), 0);
  assert_int_equal (seccomp_cache_store (dir, KEY_B, &sample), 0);
  assert_int_equal (count_files (), SECCOMP_CACHE_ENTRIES);
  assert_int_equal (load (KEY_A), -ENOENT);
  assert_int_equal (load (KEY_B), 0);
}

/* What makes another program makes another key.  */
static void test_keys_differ (void **state)
{
  char allow[] = "SCMP_ACT_ALLOW", deny[] = "SCMP_ACT_ERRNO", userns[] = "userns",
       keyctl[] = "keyctl";
  char *one[] = { userns }, *other[] = { keyctl };
  const struct oci_seccomp open = { .default_action = allow }, shut = { .default_action = deny };
  const struct seccomp_request requests[] = {
    { .profile = &open },
    { .profile = &shut },
    { .profile = &open, .baseline = true },
    { .builtin = true },
    { .builtin = true, .baseline = true },
    { .builtin = true, .baseline = true, .allowed = one, .allowed_len = 1 },
    { .builtin = true, .baseline = true, .allowed = other, .allowed_len = 1 },
  };
  char keys[ARRAY_SIZE (requests)][SECCOMP_CACHE_KEY_SIZE], again[SECCOMP_CACHE_KEY_SIZE];
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (requests); i++)
    {
      assert_int_equal (seccomp_cache_key (&requests[i], keys[i]), 0);
      assert_int_equal (seccomp_cache_key (&requests[i], again), 0);
      assert_string_equal (keys[i], again);
      for (size_t k = 0; k < i; k++)
        assert_string_not_equal (keys[i], keys[k]);
    }
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_what_is_stored_comes_back, setup, teardown),
    cmocka_unit_test_setup_teardown (test_damaged_files_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_a_file_of_another_key_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_untrusted_files_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_untrusted_directories_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_the_oldest_goes, setup, teardown),
    cmocka_unit_test (test_keys_differ),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
