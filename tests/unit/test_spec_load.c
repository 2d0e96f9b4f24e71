/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/load.c and parse.c: the one reading of config.json.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spec/load.h"

struct place
{
  char dir[64];
  char config[80];
};

static int setup (void **state)
{
  struct place *p = calloc (1, sizeof *p);

  if (p == NULL)
    return -1;
  strcpy (p->dir, "/tmp/agentrun-load-XXXXXX");
  if (mkdtemp (p->dir) == NULL)
    return -1;
  snprintf (p->config, sizeof p->config, "%s/config.json", p->dir);
  *state = p;
  return 0;
}

static int teardown (void **state)
{
  struct place *p = *state;

  unlink (p->config);
  rmdir (p->config);
  rmdir (p->dir);
  free (p);
  return 0;
}

static void write_file (const char *path, const char *text, size_t len)
{
  FILE *f = fopen (path, "w");

  assert_non_null (f);
  assert_int_equal (fwrite (text, 1, len, f), len);
  assert_int_equal (fclose (f), 0);
}

static void test_loads (void **state)
{
  struct place *p = *state;
  cleanup_bundle struct bundle b = { .dirfd = -1 };
  struct error err;

  write_file (p->config, "abc", 3);
  assert_int_equal (chmod (p->config, 0640), 0);
  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), 0);
  assert_string_equal (b.path, p->dir);
  assert_int_equal (b.len, 3);
  assert_string_equal (b.bytes, "abc");
  assert_string_equal (b.digest,
                       "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_int_equal (b.config_mode & 07777, 0640);
  assert_int_equal (b.config_uid, getuid ());
  assert_int_equal (b.uid, getuid ());
  assert_true (S_ISDIR (b.mode));
  assert_int_equal (fcntl (b.dirfd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void test_config_elsewhere (void **state)
{
  struct place *p = *state;
  cleanup_bundle struct bundle b = { .dirfd = -1 };
  struct error err;

  write_file (p->config, "{}", 2);
  assert_int_equal (bundle_load ("/", p->config, &b, &err), 0);
  assert_string_equal (b.path, "/");
  assert_string_equal (b.config_name, p->config);
}

static void test_missing (void **state)
{
  struct place *p = *state;
  struct bundle b = { .dirfd = -1 };
  struct error err = { 0 };

  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), -ENOENT);
  assert_non_null (strstr (err.message, "config.json"));
  assert_int_equal (bundle_load ("/nonexistent-bundle", NULL, &b, &err), -ENOENT);
  assert_non_null (strstr (err.message, "/nonexistent-bundle"));
  write_file (p->config, "{}", 2);
  assert_int_equal (bundle_load (p->config, NULL, &b, &err), -ENOTDIR);
  assert_int_equal (b.dirfd, -1);
}

static void test_fifo_does_not_block (void **state)
{
  struct place *p = *state;
  struct bundle b = { .dirfd = -1 };
  struct error err = { 0 };

  assert_int_equal (mkfifo (p->config, 0600), 0);
  alarm (5);
  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), -EINVAL);
  alarm (0);
  assert_non_null (strstr (err.message, "not a regular file"));
}

static void test_directory_is_refused (void **state)
{
  struct place *p = *state;
  struct bundle b = { .dirfd = -1 };
  struct error err = { 0 };

  assert_int_equal (mkdir (p->config, 0700), 0);
  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), -EINVAL);
}

static void test_link_is_refused (void **state)
{
  struct place *p = *state;
  struct bundle b = { .dirfd = -1 };
  struct error err = { 0 };

  assert_int_equal (symlink ("/etc/passwd", p->config), 0);
  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), -ELOOP);
  assert_non_null (strstr (err.message, "symbolic link"));
}

/* Sparse: it costs no disk.  */
static void test_too_large_is_left_to_the_parser (void **state)
{
  struct place *p = *state;
  cleanup_bundle struct bundle b = { .dirfd = -1 };
  cleanup_arena struct arena *arena = arena_new ();
  struct findings findings = { .arena = arena };
  struct oci_config *config = NULL;
  struct error err = { 0 };

  write_file (p->config, "{", 1);
  assert_int_equal (truncate (p->config, 17 * 1024 * 1024), 0);
  assert_int_equal (bundle_load (p->dir, NULL, &b, &err), 0);
  assert_int_equal (b.len, 16 * 1024 * 1024 + 1);
  assert_int_equal (spec_parse (&b, arena, &findings, &config, &err), -EINVAL);
  assert_string_equal (findings.items[0].rule, "json.size");
  assert_null (config);
}

/* A bundle in memory.  */
static int parse (const char *text, struct arena *arena, struct findings *findings,
                  struct oci_config **ret, struct error *err)
{
  struct bundle b = { .config_name = arena_strdup (arena, "config.json"),
                      .bytes = arena_strdup (arena, text),
                      .len = strlen (text) };

  return spec_parse (&b, arena, findings, ret, err);
}

static void test_errors_name_file_line_and_pointer (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct findings f = { .arena = arena };
  struct oci_config *config = NULL;
  struct error err = { 0 };

  (void)state;
  assert_int_equal (parse ("{\n \"ociVersion\": \"1.0.0\",\n \"root\": {\"path\": 7},\n"
                           " \"process\": {\"user\": {\"uid\": -1}}}",
                           arena, &f, &config, &err),
                    -EINVAL);
  assert_int_equal (f.len, 2);
  assert_string_equal (f.items[0].rule, "json.type");
  assert_string_equal (f.items[0].action, "reject");
  assert_string_equal (f.items[0].pointer, "/root/path");
  assert_ptr_equal (strstr (f.items[0].message, "config.json:3: /root/path: "), f.items[0].message);
  assert_string_equal (f.items[1].pointer, "/process/user/uid");
  assert_string_equal (err.message, f.items[0].message);
}

static void test_unknown_members_warn (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct findings f = { .arena = arena };
  struct oci_config *config = NULL;
  struct error err = { 0 };

  (void)state;
  assert_int_equal (parse ("{\"ociVersion\": \"1.0.0\", \"novel\": 1}", arena, &f, &config, &err),
                    0);
  assert_string_equal (config->oci_version, "1.0.0");
  assert_int_equal (f.len, 1);
  assert_string_equal (f.items[0].rule, "json.unknown");
  assert_string_equal (f.items[0].action, "warn");
  assert_false (findings_reject (&f));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_loads, setup, teardown),
    cmocka_unit_test_setup_teardown (test_config_elsewhere, setup, teardown),
    cmocka_unit_test_setup_teardown (test_missing, setup, teardown),
    cmocka_unit_test_setup_teardown (test_fifo_does_not_block, setup, teardown),
    cmocka_unit_test_setup_teardown (test_directory_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_link_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_too_large_is_left_to_the_parser, setup, teardown),
    cmocka_unit_test (test_errors_name_file_line_and_pointer),
    cmocka_unit_test (test_unknown_members_warn),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
