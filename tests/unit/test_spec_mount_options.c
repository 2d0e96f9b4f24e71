/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/mount_options.c: words to attributes.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/mount.h>
#include <string.h>

#include "base/str.h"
#include "spec/mount_options.h"

#define NOSYMFOLLOW 0x00200000

/* What the words of one case must become.  */
struct option_case
{
  const char *type;
  const char *words[6];
  uint64_t set, clear, recursive_set, recursive_clear;
};

static const struct option_case cases[] = {
  { "tmpfs", { "ro" }, MOUNT_ATTR_RDONLY, 0, 0, 0 },
  { "tmpfs", { "ro", "rw" }, 0, MOUNT_ATTR_RDONLY, 0, 0 },
  { "tmpfs", { "rw", "ro" }, MOUNT_ATTR_RDONLY, 0, 0, 0 },
  { "tmpfs",
    { "nosuid", "nodev", "noexec" },
    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
    0,
    0,
    0 },
  { "tmpfs", { "noexec", "exec" }, 0, MOUNT_ATTR_NOEXEC, 0, 0 },
  { "tmpfs", { "nosymfollow" }, NOSYMFOLLOW, 0, 0, 0 },
  { "tmpfs", { "nosymfollow", "symfollow" }, 0, NOSYMFOLLOW, 0, 0 },
  { "tmpfs", { "noatime" }, MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "noatime", "strictatime" }, MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "strictatime", "noatime" }, MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "noatime", "relatime" }, 0, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "noatime", "atime" }, 0, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "strictatime", "nostrictatime" }, 0, MOUNT_ATTR__ATIME, 0, 0 },
  { "tmpfs", { "nodiratime" }, MOUNT_ATTR_NODIRATIME, 0, 0, 0 },
  { "tmpfs", { "nodiratime", "diratime" }, 0, MOUNT_ATTR_NODIRATIME, 0, 0 },
  { "none", { "rbind", "rro" }, 0, 0, MOUNT_ATTR_RDONLY, 0 },
  { "none", { "rbind", "rro", "rrw" }, 0, 0, 0, MOUNT_ATTR_RDONLY },
  { "none",
    { "rbind", "rnosuid", "rnodev", "rnoexec" },
    0,
    0,
    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
    0 },
  { "none",
    { "rbind", "rnoatime", "rstrictatime" },
    0,
    0,
    MOUNT_ATTR_STRICTATIME,
    MOUNT_ATTR__ATIME },
  { "none", { "rbind", "rstrictatime", "ratime" }, 0, 0, 0, MOUNT_ATTR__ATIME },
  { "none",
    { "rbind", "rnodiratime", "rnosymfollow" },
    0,
    0,
    MOUNT_ATTR_NODIRATIME | NOSYMFOLLOW,
    0 },
  { "none", { "rbind", "ro", "rrw" }, MOUNT_ATTR_RDONLY, 0, 0, MOUNT_ATTR_RDONLY },
  { "tmpfs", { "defaults", "silent", "loud", "iversion", "noiversion" }, 0, 0, 0, 0 },
};

static struct mount_options parse (struct arena *arena, const char *type, const char *const *words,
                                   size_t max)
{
  struct oci_mount mount = { .type = arena_strdup (arena, type), .has_options = true };
  struct mount_options o;

  mount.options = arena_alloc_array (arena, max, sizeof *mount.options);
  for (; mount.options_len < max && words[mount.options_len] != NULL; mount.options_len++)
    mount.options[mount.options_len] = arena_strdup (arena, words[mount.options_len]);
  assert_int_equal (mount_options_parse (&mount, arena, &o), 0);
  return o;
}

#define PARSE(arena, type, ...) parse (arena, type, (const char *[]){ __VA_ARGS__, NULL }, 16)

static void test_attributes (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      struct mount_options o = parse (arena, cases[i].type, cases[i].words, 6);

      assert_int_equal (o.attr_set, cases[i].set);
      assert_int_equal (o.attr_clear, cases[i].clear);
      assert_int_equal (o.recursive_set, cases[i].recursive_set);
      assert_int_equal (o.recursive_clear, cases[i].recursive_clear);
      assert_int_equal (o.data_len, 0);
    }
}

static void test_bind_by_option_or_type (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct mount_options o;

  (void)state;
  o = PARSE (arena, "none", "bind");
  assert_true (o.bind && !o.recursive);
  o = PARSE (arena, "proc", "rbind");
  assert_true (o.bind && o.recursive);
  o = PARSE (arena, "bind", "ro");
  assert_true (o.bind && !o.recursive);
  o = PARSE (arena, "rbind", "ro");
  assert_true (o.bind && o.recursive);
  o = PARSE (arena, "tmpfs", "ro");
  assert_false (o.bind || o.recursive);
}

static void test_propagation (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct mount_options o = PARSE (arena, "bind", "rshared", "private");

  (void)state;
  assert_int_equal (o.propagation, MS_PRIVATE);
  assert_false (o.propagation_recursive);
  o = PARSE (arena, "bind", "rslave");
  assert_int_equal (o.propagation, MS_SLAVE);
  assert_true (o.propagation_recursive);
  assert_int_equal (PARSE (arena, "bind", "unbindable").propagation, MS_UNBINDABLE);
  assert_int_equal (PARSE (arena, "bind", "ro").propagation, 0);
}

static void test_marks (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();

  (void)state;
  assert_true (PARSE (arena, "tmpfs", "tmpcopyup").copy_up);
  assert_true (PARSE (arena, "tmpfs", "mode=755").mode_given);
  assert_false (PARSE (arena, "tmpfs", "size=1m").mode_given);
  assert_true (PARSE (arena, "bind", "remount").remount);
  assert_true (PARSE (arena, "bind", "idmap").idmap);
  assert_false (PARSE (arena, "bind", "idmap").idmap_recursive);
  assert_true (PARSE (arena, "bind", "ridmap").idmap_recursive);
  /* Written out, even if a later word takes it back.  */
  assert_true (PARSE (arena, "tmpfs", "suid", "nosuid").explicit_suid);
  assert_true (PARSE (arena, "tmpfs", "rsuid").explicit_suid);
  assert_true (PARSE (arena, "tmpfs", "dev").explicit_dev);
  assert_true (PARSE (arena, "tmpfs", "rdev").explicit_dev);
  assert_false (PARSE (arena, "tmpfs", "nosuid", "nodev", "rw").explicit_suid);
  assert_false (PARSE (arena, "tmpfs", "nosuid", "nodev", "rw").explicit_dev);
}

static void test_the_rest_is_data_in_order (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct mount_options o = PARSE (arena, "tmpfs", "size=1m", "ro", "sync", "mode=700", "NOSUID");

  (void)state;
  assert_int_equal (o.data_len, 4);
  assert_string_equal (o.data[0], "size=1m");
  assert_string_equal (o.data[1], "sync");
  assert_string_equal (o.data[2], "mode=700");
  assert_string_equal (o.data[3], "NOSUID");
  assert_true (mount_option_superblock ("sync"));
  assert_true (mount_option_superblock ("nolazytime"));
  assert_false (mount_option_superblock ("ro"));
  assert_false (mount_option_superblock ("size=1m"));
  assert_false (mount_option_superblock (NULL));
  /* A bind has no file system of its own to set them on, whatever the order of the words.  */
  o = PARSE (arena, "none", "sync", "bind", "size=1m");
  assert_int_equal (o.data_len, 1);
  assert_string_equal (o.data[0], "size=1m");
}

static void test_no_options (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_mount empty = { 0 };
  struct mount_options o;

  (void)state;
  assert_int_equal (mount_options_parse (&empty, arena, &o), 0);
  assert_int_equal (o.attr_set | o.attr_clear | o.data_len | o.bind, 0);
}

static void test_names_are_sorted (void **state)
{
  const char *const *names = mount_option_names ();
  size_t count = 0;

  (void)state;
  for (; names[count] != NULL; count++)
    if (count > 0)
      assert_true (strcmp (names[count - 1], names[count]) < 0);
  assert_true (count > 50);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_attributes),
    cmocka_unit_test (test_bind_by_option_or_type),
    cmocka_unit_test (test_propagation),
    cmocka_unit_test (test_marks),
    cmocka_unit_test (test_the_rest_is_data_in_order),
    cmocka_unit_test (test_no_options),
    cmocka_unit_test (test_names_are_sorted),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
