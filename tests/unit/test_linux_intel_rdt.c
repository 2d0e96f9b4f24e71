/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/intel_rdt.c on a tree of directories and files that stands for resctrl.  No privilege
   needed.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/intel_rdt.h"

static char place[] = "/tmp/agentrun-test-rdt.XXXXXX";
static int root = -1;

static void put (const char *path, const char *text)
{
  cleanup_close int fd = openat (root, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), strlen (text));
}

static void holds (const char *path, const char *text)
{
  char found[256] = { 0 };
  cleanup_close int fd = openat (root, path, O_RDONLY);
  assert_true (fd >= 0);
  assert_true (read (fd, found, sizeof found - 1) >= 0);
  assert_string_equal (found, text);
}

static bool there (const char *path) { return faccessat (root, path, F_OK, 0) == 0; }

/* What the kernel puts into each group by itself.  */
static void make_group (const char *name)
{
  char path[128];
  assert_int_equal (mkdirat (root, name, 0755), 0);
  snprintf (path, sizeof path, "%s/schemata", name);
  put (path, "");
  snprintf (path, sizeof path, "%s/tasks", name);
  put (path, "");
  snprintf (path, sizeof path, "%s/mon_groups", name);
  assert_int_equal (mkdirat (root, path, 0755), 0);
}

static void a_group_that_is_there (void **state)
{
  static char l3[] = "L3:0=f;1=f", mb[] = "MB:0=50";
  char *lines[] = { l3, mb };
  struct intel_rdt r = { .group = "shared", .named = true, .lines = lines, .lines_len = 2 };
  struct error err = { 0 };
  bool made = true;
  (void)state;
  make_group ("shared");
  put ("shared/schemata", "    L3:0=f;1=f\n    MB:0=50\n");
  assert_int_equal (intel_rdt_enter (root, &r, 42, &made, &err), 0);
  assert_false (made);
  holds ("shared/tasks", "42\n");
  holds ("shared/schemata", "    L3:0=f;1=f\n    MB:0=50\n");
  put ("shared/schemata", "    L3:0=ff;1=f\n    MB:0=50\n");
  assert_int_equal (intel_rdt_enter (root, &r, 43, &made, &err), -EINVAL);
  assert_non_null (strstr (err.message, "\"L3:0=f;1=f\""));
  /* Without a schema nothing is compared, and "." is the root group.  */
  r.lines_len = 0;
  assert_int_equal (intel_rdt_enter (root, &r, 44, &made, &err), 0);
  r.group = ".";
  put ("tasks", "");
  assert_int_equal (intel_rdt_enter (root, &r, 45, &made, &err), 0);
  holds ("tasks", "45\n");
}

static void a_group_of_its_own (void **state)
{
  static char mb[] = "MB:0=70";
  char *lines[] = { mb };
  struct intel_rdt r = { .group = "own", .lines = lines, .lines_len = 1 };
  struct error err = { 0 };
  bool made = true;
  (void)state;
  make_group ("own");
  assert_int_equal (intel_rdt_enter (root, &r, 7, &made, &err), 0);
  holds ("own/schemata", "MB:0=70\n");
  holds ("own/tasks", "7\n");
  /* In this tree the kernel fills no new group: entering fails, and takes the group away again.  */
  r.group = "fresh";
  assert_int_equal (intel_rdt_enter (root, &r, 7, &made, &err), -ENOENT);
  assert_false (there ("fresh"));
  r.named = true;
  r.lines_len = 0;
  assert_int_equal (intel_rdt_enter (root, &r, 7, &made, &err), -ENOENT);
  assert_non_null (strstr (err.message, "no schema is given"));
  assert_false (there ("fresh"));
}

static void monitoring (void **state)
{
  struct intel_rdt r = { .group = "seen", .named = true, .monitor = "c1" };
  struct error err = { 0 };
  bool made = false;
  (void)state;
  make_group ("seen");
  assert_int_equal (mkdirat (root, "seen/mon_groups/c1", 0755), 0);
  put ("seen/mon_groups/c1/tasks", "");
  assert_int_equal (intel_rdt_enter (root, &r, 9, &made, &err), 0);
  holds ("seen/mon_groups/c1/tasks", "9\n");
  assert_int_equal (unlinkat (root, "seen/mon_groups/c1/tasks", 0), 0);
  assert_int_equal (intel_rdt_leave (root, &r, false, &err), 0);
  assert_false (there ("seen/mon_groups/c1"));
  assert_true (there ("seen"));
  assert_int_equal (mkdirat (root, "gone", 0755), 0);
  r = (struct intel_rdt){ .group = "gone" };
  assert_int_equal (intel_rdt_leave (root, &r, true, &err), 0);
  assert_false (there ("gone"));
  assert_int_equal (intel_rdt_leave (root, &r, true, &err), 0);
}

static void an_update (void **state)
{
  char *lines[] = { (char *)"MB:0=20" };
  struct intel_rdt r = { .group = "updated", .lines = lines, .lines_len = 1 };
  struct error err = { 0 };
  (void)state;
  assert_int_equal (intel_rdt_update (root, &r, &err), -ENOENT);
  assert_non_null (strstr (err.message, "resctrl group updated"));
  make_group ("updated");
  assert_int_equal (intel_rdt_update (root, &r, &err), 0);
  holds ("updated/schemata", "MB:0=20\n");
}

static int set_up (void **state)
{
  (void)state;
  if (mkdtemp (place) == NULL)
    return -1;
  root = open (place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return root < 0 ? -1 : 0;
}

static int tear_down (void **state)
{
  char command[128];
  (void)state;
  close (root);
  snprintf (command, sizeof command, "rm -r %s", place);
  return system (command);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_group_that_is_there),
    cmocka_unit_test (a_group_of_its_own),
    cmocka_unit_test (monitoring),
    cmocka_unit_test (an_update),
  };
  return cmocka_run_group_tests (tests, set_up, tear_down);
}
