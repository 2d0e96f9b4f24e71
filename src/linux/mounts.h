/* SPDX-License-Identifier: Apache-2.0 */
/* The mount API that works on descriptors (fsopen(2), open_tree(2), mount_setattr(2),
   move_mount(2); Linux 5.12).  Not called mount.h: that name hides the kernel's <linux/mount.h>.
   A "tree" is a descriptor of a detached mount; it can be used as a directory descriptor, vanishes
   when closed, and after mount_attach it refers to the same, now attached, mount.
   A missing system call is -ENOSYS with a sentence that names it.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A new file system of TYPE.  SOURCE may be NULL.  PARAMETERS are N strings as mount(8) takes them,
   one parameter each: "mode=755" is set as a string, "newinstance" as a flag; only the first '='
   counts.  ATTR_SET: MOUNT_ATTR_* of fsmount(2).  The error names the parameter and carries what
   the kernel logged in the context.  The caller closes *RET_TREE.  */
int mount_new_fs (const char *type, const char *source, char *const *parameters, size_t n,
                  uint64_t attr_set, int *ret_tree, struct error *err);

/* A detached clone of the mount that holds PATH below DIRFD, rooted there; with PATH "" of DIRFD
   itself (O_PATH will do).  A link as last component is not followed.  RECURSIVE: with the mounts
   below.  DIRFD has to lie in a mount of the caller's own mount namespace: a detached tree is
   -EINVAL before it is attached.  The clone is a peer of what it was cloned from if that is shared:
   set its propagation before attaching it.  */
int mount_clone (int dirfd, const char *path, bool recursive, int *ret_tree, struct error *err);

/* mount_setattr(2).  SET and CLEAR: MOUNT_ATTR_*; when SET holds one of the atime settings the
   whole of MOUNT_ATTR__ATIME is cleared first, as the call wants it.  PROPAGATION: one of
   MS_PRIVATE, MS_SLAVE, MS_SHARED, MS_UNBINDABLE, or 0.  RECURSIVE: for all mounts of the tree.
   WHAT names the mount in the message.  TREE may be attached.  */
int mount_set (int tree, bool recursive, uint64_t set, uint64_t clear, uint64_t propagation,
               const char *what, struct error *err);

/* Attaches TREE on TARGET_FD (O_PATH of a directory or, for a tree that is a file, of a file), on
   top of what is mounted there.  WHAT is the destination, for the message.  */
int mount_attach (int tree, int target_fd, const char *what, struct error *err);

/* The kernel's number of the mount in which FD lies (statx(2) STATX_MNT_ID).  */
int mount_id (int fd, uint64_t *ret, struct error *err);
