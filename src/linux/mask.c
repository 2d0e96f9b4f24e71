/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: masked and read-only paths.  mask_null_open runs in the parent, the rest in init before the
   change of user; CAP_SYS_ADMIN over the mount namespace.  */

#include "linux/mask.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "linux/mounts.h"

void mask_close (struct mask *mask)
{
  cleanup_closep (&mask->null_tree);
  cleanup_closep (&mask->empty_tree);
  mask->null_tree = mask->empty_tree = -1;
  mask->null_attached = mask->empty_attached = false;
}

static int verify_null (int fd, struct error *err)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "look at the null device");
  /* The type as well: st_rdev of a plain file is 0 and says nothing.  */
  if (!S_ISCHR (st.st_mode) || st.st_rdev != makedev (1, 3))
    return error_set (err, -ENXIO, "/dev/null of the host is not character device 1:3");
  return 0;
}

int mask_null_open (int *ret_tree, struct error *err)
{
  cleanup_close int fd = open ("/dev/null", O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open /dev/null of the host");
  cleanup_close int tree = -1;
  int r = mount_clone (fd, "", false, &tree, err);
  if (r == 0)
    r = verify_null (tree, err);
  if (r == 0)
    r = mount_set (tree, false, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0,
                   MS_PRIVATE, "/dev/null of the host", err);
  if (r < 0)
    return r;
  *ret_tree = steal_fd (&tree);
  return 0;
}

/* Opens PATH; *RET_FD stays -1 if there is nothing to hide.  ENOTDIR is one of these: a component
   above is a file, so the path names nothing, as with ENOENT.  */
static int open_target (int rootfd, const char *path, int *ret_fd, struct error *err)
{
  int fd = path_open_in_root (rootfd, path, O_PATH, err);
  if (fd == -ENOENT || fd == -ENOTDIR)
    return 0;
  if (fd < 0)
    return fd;
  *ret_fd = fd;
  return 0;
}

static int refuse_root (int rootfd, const struct stat *target, const char *path, struct error *err)
{
  struct stat root;
  if (fstat (rootfd, &root) < 0)
    return error_errno (err, errno, "look at the root of masked path %s", path);
  if (root.st_dev == target->st_dev && root.st_ino == target->st_ino)
    return error_set (err, -EINVAL, "masked path %s is the root directory", path);
  return 0;
}

static int make_empty (struct mask *mask, struct error *err)
{
  static char *const parameters[] = { "mode=755", "nr_blocks=1", "nr_inodes=2", "ro" };
  if (mask->empty_tree >= 0)
    return 0;
  return mount_new_fs ("tmpfs", "tmpfs", parameters, sizeof (parameters) / sizeof (*parameters),
                       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                       &mask->empty_tree, err);
}

/* A detached tree can't be cloned from another mount namespace (before Linux 6.15 not at all), an
   attached mount of our own can.  */
static int cover (int tree, bool *attached, int target, const char *path, struct error *err)
{
  if (!*attached)
    {
      int r = mount_attach (tree, target, path, err);
      *attached = r == 0;
      return r;
    }
  cleanup_close_later int clone = -1;
  int r = mount_clone (tree, "", false, &clone, err);
  if (r == 0)
    r = mount_attach (clone, target, path, err);
  return r;
}

int mask_path (struct mask *mask, int rootfd, const char *path, struct error *err)
{
  cleanup_close_later int target = -1;
  int r = open_target (rootfd, path, &target, err);
  if (r < 0 || target < 0)
    return r < 0 ? error_context (err, "masked path %s", path) : 0;
  struct stat st;
  if (fstat (target, &st) < 0)
    return error_errno (err, errno, "masked path %s", path);
  if (S_ISDIR (st.st_mode))
    {
      r = refuse_root (rootfd, &st, path, err);
      if (r < 0)
        return r;
      r = make_empty (mask, err);
      if (r == 0)
        r = cover (mask->empty_tree, &mask->empty_attached, target, path, err);
    }
  else
    {
      /* Again here: the parent's word is not enough.  */
      r = mask->null_attached ? 0 : verify_null (mask->null_tree, err);
      if (r == 0)
        r = cover (mask->null_tree, &mask->null_attached, target, path, err);
    }
  return r < 0 ? error_context (err, "masked path %s", path) : 0;
}

int readonly_path (int rootfd, const char *path, struct error *err)
{
  cleanup_close_later int target = -1;
  int r = open_target (rootfd, path, &target, err);
  if (r < 0 || target < 0)
    return r < 0 ? error_context (err, "read-only path %s", path) : 0;

  /* The clone has the flags of the mount it lies in; only MOUNT_ATTR_RDONLY is added, so none of
     them can get lost as with a remount.  */
  cleanup_close_later int clone = -1;
  r = mount_clone (target, "", true, &clone, err);
  if (r == 0)
    r = mount_set (clone, true, MOUNT_ATTR_RDONLY, 0, 0, path, err);
  if (r == 0)
    r = mount_attach (clone, target, path, err);
  return r < 0 ? error_context (err, "read-only path %s", path) : 0;
}
