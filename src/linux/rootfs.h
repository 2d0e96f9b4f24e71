/* SPDX-License-Identifier: Apache-2.0 */
/* The root file system of the container: from a detached tree to "/".  In init, in its new mount
   namespace, with CAP_SYS_ADMIN over it.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Makes every mount of the namespace private, so that nothing of what follows reaches the host, and
   mounts TREE on top of "/".  The caller's root and cwd stay the host's, but TREE is now an
   attached mount: use it as root descriptor to mount below, then rootfs_pivot. PROPAGATION is what
   rootfs_set will be given in the end: with MS_SLAVE or MS_SHARED the tree stays a slave of the
   host's mount until then, else it is made private.  In no case can set-up propagate out.  */
int rootfs_attach (int tree, uint64_t propagation, struct error *err);

/* pivot_root(2) into ROOTFD (the tree of rootfs_attach) and detaches the host's root.  Afterwards
   root and cwd are the tree; that is verified by mount number.  -EINVAL where the
   namespace's root is the kernel's own initial ramfs, which can't be pivoted away.  */
int rootfs_pivot (int rootfd, struct error *err);

/* Last step: ATTR_SET (MOUNT_ATTR_*) and, if READONLY, MOUNT_ATTR_RDONLY for the mount at "/", and
   its propagation: one MS_* flag or 0 (leave), recursive as rootfsPropagation of the runtime-spec
   wants. ROOTFD: as above or "/" opened after the pivot.  */
int rootfs_set (int rootfd, bool readonly, uint64_t attr_set, uint64_t propagation,
                struct error *err);
