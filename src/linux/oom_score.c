/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the out-of-memory adjustment of a process.  Runs in init before the change of user, or in
   the parent; lowering needs CAP_SYS_RESOURCE.  */

#include "linux/oom_score.h"

#include <errno.h>
#include <stdio.h>

#include "linux/procfs.h"

static int write_value (int procfd, const char *path, int value, struct error *err)
{
  if (value < -1000 || value > 1000)
    return error_set (err, -ERANGE, "oom_score_adj %d is not within -1000 ... 1000", value);
  char text[16];
  snprintf (text, sizeof (text), "%d", value);
  int r = procfs_write (procfd, path, text, err);
  return r < 0 ? error_context (err, "set oom_score_adj to %d", value) : 0;
}

int oom_score_adj_set (int procfd, int value, struct error *err)
{
  return write_value (procfd, "self/oom_score_adj", value, err);
}

int oom_score_adj_set_of (int procfd, pid_t pid, int value, struct error *err)
{
  char path[48];
  snprintf (path, sizeof (path), "%d/oom_score_adj", (int)pid);
  return write_value (procfd, path, value, err);
}
