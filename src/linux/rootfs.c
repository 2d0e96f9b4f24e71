/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the change of root.  Runs in init, in its new mount namespace, with CAP_SYS_ADMIN over it.
   chroot(2) is no substitute and not offered: the host's mounts would stay in the namespace.  */

#include "linux/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "linux/mounts.h"

static int open_root (int *ret_fd, struct error *err)
{
  int fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open /");
  *ret_fd = fd;
  return 0;
}

int rootfs_attach (int tree, uint64_t propagation, struct error *err)
{
  cleanup_close int host = -1;
  int r = open_root (&host, err);
  if (r < 0)
    return r;

  /* First of all: as long as "/" is a peer of the host's, what is mounted on it appears there.  */
  r = mount_set (host, true, 0, 0, MS_PRIVATE, "/ and below", err);
  if (r < 0)
    return r;

  /* The clone is a peer of the mount that it was cloned from, too.  A later MS_SHARED makes a new
     peer group of a slave, so "shared" ends here as "slave and shared".  */
  uint64_t until_then = propagation == MS_SLAVE || propagation == MS_SHARED ? MS_SLAVE : MS_PRIVATE;
  r = mount_set (tree, true, 0, 0, until_then, "the root file system", err);
  if (r < 0)
    return r;

  return mount_attach (tree, host, "/ (the root file system)", err);
}

static int verify_root (int rootfd, struct error *err)
{
  cleanup_close int now = -1;
  uint64_t is, wanted;
  int r = open_root (&now, err);
  if (r == 0)
    r = mount_id (now, &is, err);
  if (r == 0)
    r = mount_id (rootfd, &wanted, err);
  if (r < 0)
    return r;
  if (is != wanted)
    return error_set (err, -ESTALE,
                      "after pivot_root / is another mount than the root file system");
  return 0;
}

int rootfs_pivot (int rootfd, struct error *err)
{
  cleanup_close int host = -1;
  int r = open_root (&host, err);
  if (r < 0)
    return r;

  /* New and old root are both "." of the new one: pivot_root stacks the old one on the new one, so
     no directory for it is needed in the image.  */
  if (fchdir (rootfd) < 0)
    return error_errno (err, errno, "change directory to the root file system");
  if (syscall (SYS_pivot_root, ".", ".") < 0)
    return errno == EINVAL
               ? error_set (err, -EINVAL,
                            "pivot_root: EINVAL (the root of this mount namespace is an initial "
                            "ramfs, or the root file system is not a mount)")
               : error_errno (err, errno, "pivot_root");

  /* By descriptor: "." is the host's root itself, whatever is stacked where.  */
  if (fchdir (host) < 0)
    return error_errno (err, errno, "change directory to the old root");
  if (umount2 (".", MNT_DETACH) < 0)
    return error_errno (err, errno, "detach the old root");
  if (chdir ("/") < 0)
    return error_errno (err, errno, "change directory to /");
  return verify_root (rootfd, err);
}

int rootfs_set (int rootfd, bool readonly, uint64_t attr_set, uint64_t propagation,
                struct error *err)
{
  int r = mount_set (rootfd, false, attr_set | (readonly ? MOUNT_ATTR_RDONLY : 0), 0, 0,
                     "the root file system", err);
  if (r < 0)
    return r;
  return mount_set (rootfd, true, 0, 0, propagation, "the root file system (propagation)", err);
}
