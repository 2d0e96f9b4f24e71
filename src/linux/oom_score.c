/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the out-of-memory adjustment of a process.  Runs in init before the change of user, or in
   the parent; lowering needs CAP_SYS_RESOURCE.  */

#include "linux/oom_score.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/procfs.h"

#define VALUE_MAX 16

/* A process that nobody may look into can't open its own file where root of its user namespace is
   not the host's; it has inherited the value that its maker had.  */
static bool has_value (int procfd, const char *path, const char *value)
{
  cleanup_free char *text = NULL;
  size_t len;
  if (procfs_read (procfd, path, VALUE_MAX, &text, &len, NULL) < 0)
    return false;
  text[strcspn (text, "\n")] = '\0';
  return str_equal (text, value);
}

static int write_value (int procfd, const char *path, int value, struct error *err)
{
  if (value < -1000 || value > 1000)
    return error_set (err, -ERANGE, "oom_score_adj %d is not within -1000 ... 1000", value);
  char text[16];
  snprintf (text, sizeof (text), "%d", value);
  int r = procfs_write (procfd, path, text, err);
  if (r == -EACCES && has_value (procfd, path, text))
    return 0;
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
