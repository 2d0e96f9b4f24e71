/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent: a process in a user namespace of its own can't write its own file in procfs,
   which is root's as long as it can't be dumped.  */
#include "linux/timens.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/procfs.h"

#ifndef CLONE_NEWTIME
#  define CLONE_NEWTIME 0x00000080
#endif

static int write_offsets (int procfd, const struct time_offset *offsets, size_t n,
                          struct error *err)
{
  cleanup_strbuf struct strbuf text = { 0 };
  if (n == 0)
    return 0;
  for (size_t i = 0; i < n; i++)
    strbuf_printf (&text, "%s %" PRId64 " %" PRIu32 "\n", offsets[i].clock, offsets[i].secs,
                   offsets[i].nanosecs);
  if (text.failed)
    return error_set (err, -ENOMEM, "out of memory for the time offsets");
  int r = procfs_write (procfd, "self/timens_offsets", text.data, err);
  return r < 0 ? error_context (err, "linux.timeOffsets") : 0;
}

int timens_make (int procfd, const struct time_offset *offsets, size_t n, int *ret_own,
                 struct error *err)
{
  cleanup_close int own = openat (procfd, "self/ns/time", O_RDONLY | O_CLOEXEC);
  struct error ignored;
  if (own < 0)
    return error_errno (err, errno, "open the own time namespace");
  if (unshare (CLONE_NEWTIME) < 0)
    return error_errno (err, errno, "make a time namespace");
  int r = write_offsets (procfd, offsets, n, err);
  if (r < 0)
    {
      (void)timens_leave (steal_fd (&own), &ignored);
      return r;
    }
  *ret_own = steal_fd (&own);
  return 0;
}

int timens_leave (int own, struct error *err)
{
  int r = setns (own, CLONE_NEWTIME) < 0
              ? error_errno (err, errno, "return to the own time namespace")
              : 0;
  close (own);
  return r;
}
