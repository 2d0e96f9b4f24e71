/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of user namespaces: their text and its limits, and that the kernel takes them.  The second
   part needs root.  */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/procfs.h"
#include "linux/userns.h"
#include "linux_child.h"

static struct error err;

static int text_of (const struct id_range *ranges, size_t n, char **ret)
{
  *ret = NULL;
  return userns_map_text (ranges, n, "uidMappings", ret, &err);
}

static void text_has_one_line_a_range (void **state)
{
  (void)state;
  const struct id_range ranges[] = { { 0, 100000, 65536 }, { 65536, 4294967294U, 1 } };
  cleanup_free char *text;
  assert_int_equal (text_of (ranges, 2, &text), 0);
  assert_string_equal (text, "0 100000 65536\n65536 4294967294 1\n");
}

static void assert_refused (const struct id_range *ranges, size_t n, int code, const char *word)
{
  char *text;
  assert_int_equal (text_of (ranges, n, &text), code);
  assert_null (text);
  assert_non_null (strstr (err.message, word));
}

static void ranges_that_are_none_are_refused (void **state)
{
  (void)state;
  const struct id_range empty = { 0, 100000, 0 };
  const struct id_range wraps_outside = { 0, 4294967290U, 6 };
  const struct id_range wraps_inside = { 4294967295U, 5, 1 };
  const struct id_range inside_twice[] = { { 0, 1000, 10 }, { 9, 2000, 1 } };
  const struct id_range outside_twice[] = { { 0, 1000, 10 }, { 50, 1009, 5 } };
  const struct id_range neighbours[] = { { 0, 1000, 10 }, { 10, 1010, 5 } };
  cleanup_free char *text;
  assert_refused (&empty, 0, -EINVAL, "empty");
  assert_refused (&empty, 1, -EINVAL, "uidMappings[0]");
  assert_refused (&wraps_outside, 1, -EINVAL, "last id");
  assert_refused (&wraps_inside, 1, -EINVAL, "last id");
  assert_refused (inside_twice, 2, -EINVAL, "overlap");
  assert_refused (outside_twice, 2, -EINVAL, "overlap");
  assert_int_equal (text_of (neighbours, 2, &text), 0);
}

/* COUNT single ids from FIRST up, both sides.  */
static void fill (struct id_range *ranges, size_t count, uint32_t first)
{
  for (size_t i = 0; i < count; i++)
    ranges[i] = (struct id_range){ first + (uint32_t)i * 2, first + (uint32_t)i * 2, 1 };
}

/* CVE-2021-43784: a length that is trusted and wraps writes a map that nobody asked for.  */
static void what_the_kernel_would_not_take_is_refused (void **state)
{
  (void)state;
  struct id_range ranges[USERNS_RANGES_MAX + 1];
  fill (ranges, USERNS_RANGES_MAX + 1, 0);
  cleanup_free char *text;
  assert_refused (ranges, USERNS_RANGES_MAX + 1, -E2BIG, "341");
  assert_int_equal (text_of (ranges, USERNS_RANGES_MAX, &text), 0);
  fill (ranges, USERNS_RANGES_MAX, 1000000000);
  assert_refused (ranges, USERNS_RANGES_MAX, -E2BIG, "bytes");
}

/* ---- with the kernel ---- */

static const struct id_range uids[] = { { 0, 500000, 1000 }, { 1000, 7, 1 } };
static const struct id_range gids[] = { { 0, 600000, 1000 } };

/* The child of these tests: in a new user namespace, waits for its maps and becomes its root.  */
static int inside (void *data)
{
  int sync = *(int *)data, procfd = -1;
  char byte;
  CHECK (read (sync, &byte, 1) == 1);
  CHECK_OK (procfs_open (&procfd, &err));
  CHECK_OK (userns_become (0, 0, procfd, &err));
  CHECK (getuid () == 0 && getegid () == 0 && getgroups (0, NULL) == 0);
  CHECK (!userns_is_initial ());
  CHECK (!userns_denies_setgroups (procfd));
  CHECK (prctl (PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
  CHECK (setresuid (1000, 1000, 1000) == 0);
  return 0;
}

static void write_and_enter (void)
{
  static char stack[1 << 20];
  int ends[2], procfd = -1;
  cleanup_free char *text = NULL;
  char path[64];
  size_t len;
  const struct userns_maps maps = { uids, 2, gids, 1 };
  CHECK (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
  CHECK_OK (procfs_open (&procfd, &err));
  CHECK (userns_is_initial ());
  pid_t pid = clone (inside, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, &ends[1]);
  CHECK (pid > 0);
  CHECK_OK (userns_write_maps (procfd, pid, &maps, &err));
  snprintf (path, sizeof path, "%d/uid_map", (int)pid);
  CHECK_OK (procfs_read (procfd, path, 4096, &text, &len, &err));
  CHECK (strstr (text, "500000") != NULL && strstr (text, " 7 ") != NULL);
  /* A map is written once.  */
  CHECK (userns_write_maps (procfd, pid, &maps, &err) == -EPERM);
  CHECK (write (ends[0], "x", 1) == 1);
  CHECK (child_status (pid) == 0);
}

static void the_kernel_takes_the_maps (void **state)
{
  (void)state;
  if (geteuid () != 0)
    skip ();
  assert_int_equal (child_run (0, write_and_enter), 0);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (text_has_one_line_a_range),
    cmocka_unit_test (ranges_that_are_none_are_refused),
    cmocka_unit_test (what_the_kernel_would_not_take_is_refused),
    cmocka_unit_test (the_kernel_takes_the_maps),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
