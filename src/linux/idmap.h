/* SPDX-License-Identifier: Apache-2.0 */
/* Id-mapped mounts (mount_setattr(2), "ID-mapped mounts").  */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "linux/userns.h"

/* Maps the owners of a detached tree: who is INSIDE in the file system is OUTSIDE for processes,
   and what OUTSIDE writes belongs to INSIDE on disk.  RECURSIVE: the mounts below as well.  Needs
   CAP_SYS_ADMIN over the user namespace of the file system; a file system that can't be mapped is
   -EINVAL.  WHAT names the mount in the message.  PROCFD: of procfs_open.  */
int mount_idmap (int tree, bool recursive, const struct userns_maps *, int procfd, const char *what,
                 struct error *err);
