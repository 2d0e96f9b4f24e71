/* SPDX-License-Identifier: Apache-2.0 */
/* linux.maskedPaths and linux.readonlyPaths of the runtime-spec.  What can't be masked ends the
   start (invariant I9): only a path that isn't there is passed over.  */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* What masks are made of.  Initialise with MASK_INIT, give null_tree, close with mask_close.  */
struct mask
{
  int null_tree;       /* of mask_null_open; owned */
  int empty_tree;      /* an empty read-only tmpfs, made at need; owned */
  bool null_attached;  /* a tree can be cloned only once it is attached: the first use takes the */
  bool empty_attached; /* tree itself, the others clone it */
};
#define MASK_INIT                                                                                  \
  {                                                                                                \
    -1, -1, false, false                                                                           \
  }
void mask_close (struct mask *mask);
#define cleanup_mask __attribute__ ((cleanup (mask_close)))

/* In the parent, in the host's mount namespace: a detached read-only clone of the host's /dev/null,
   verified on the descriptor to be character device 1:3 (CVE-2025-31133).  Handed to init.  */
int mask_null_open (int *ret_tree, struct error *err);

/* In init: hides PATH, resolved inside ROOTFD.  A directory gets the empty tmpfs, everything else
   the null device.  0 also if PATH does not exist.  PATH "/" is -EINVAL.  */
int mask_path (struct mask *mask, int rootfd, const char *path, struct error *err);

/* In init: makes PATH and all mounts below it read-only by attaching a read-only clone of it on
   itself, which keeps nosuid, nodev and noexec of the mount it lies in.  0 also if PATH does not
   exist.  */
int readonly_path (int rootfd, const char *path, struct error *err);
