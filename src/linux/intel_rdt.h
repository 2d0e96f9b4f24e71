/* SPDX-License-Identifier: Apache-2.0 */
/* Intel RDT and its like: the resctrl file system (config-linux.md, "IntelRdt").  Every function
   takes the descriptor of its root directory, so that a test can have a tree of its own.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct intel_rdt
{
  const char *group;  /* of control: closID ("." is the root group), or the container's id */
  bool named;         /* GROUP is a closID: it may be there already, and then stays as it is */
  char *const *lines; /* of schemata */
  size_t lines_len;
  const char *monitor; /* name of a monitoring group below it, or NULL */
};

/* /sys/fs/resctrl, if that is one; else -ENOTSUP.  */
int intel_rdt_open (int *ret_root, struct error *err);

/* Puts PID into the group.  One that is missing is made (*RET_MADE) unless it is named and has no
   lines, which is -ENOENT; one that is named and there must have the lines, else -EINVAL.  A
   failure removes what was made.  */
int intel_rdt_enter (int root, const struct intel_rdt *, pid_t pid, bool *ret_made,
                     struct error *err);

/* Writes the lines to the group's schemata, one that is shared included: who asks for an update
   means all who are in it.  -ENOENT when the group is gone.  */
int intel_rdt_update (int root, const struct intel_rdt *, struct error *err);

/* Removes the monitoring group, and with MADE the group.  What isn't there is success.  */
int intel_rdt_leave (int root, const struct intel_rdt *, bool made, struct error *err);
