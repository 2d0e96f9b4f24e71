/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: device nodes and the links beside them.  device_host_open runs in the parent, the rest in
   init; CAP_MKNOD, CAP_CHOWN, CAP_FOWNER, and CAP_SYS_ADMIN for a bind in place of a node.
   Links are followed nowhere: a name is only ever looked up in a directory that is held open, so
   what is made lies where it was asked for or the create fails.  */

#include "linux/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "linux/mounts.h"
#include "linux/procfs.h"

const struct device_node device_default_nodes[] = {
  { "/dev/null", 'c', 1, 3, 0666, 0, 0 },    { "/dev/zero", 'c', 1, 5, 0666, 0, 0 },
  { "/dev/full", 'c', 1, 7, 0666, 0, 0 },    { "/dev/random", 'c', 1, 8, 0666, 0, 0 },
  { "/dev/urandom", 'c', 1, 9, 0666, 0, 0 }, { "/dev/tty", 'c', 5, 0, 0666, 0, 0 },
};
const size_t device_default_nodes_len = ARRAY_SIZE (device_default_nodes);

static const struct
{
  const char *name;
  const char *target;
} default_links[] = {
  { "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
  { "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
};

static const struct
{
  char type;
  mode_t format;
} node_types[] = { { 'c', S_IFCHR }, { 'u', S_IFCHR }, { 'b', S_IFBLK }, { 'p', S_IFIFO } };

/* S_IF* of the node's type, 0 for a type that is none.  */
static mode_t node_format (const struct device_node *node)
{
  for (size_t i = 0; i < ARRAY_SIZE (node_types); i++)
    if (node_types[i].type == node->type)
      return node_types[i].format;
  return 0;
}

static int type_error (const struct device_node *node, struct error *err)
{
  return error_set (err, -EINVAL, "device %s: type is not c, u, b or p", node->path);
}

static dev_t node_numbers (const struct device_node *node)
{
  return node->type == 'p' ? 0 : makedev (node->major, node->minor);
}

/* Whether FD (O_PATH) is the device that NODE describes.  */
static bool is_node (int fd, const struct device_node *node, mode_t format)
{
  struct stat st;
  return fstat (fd, &st) == 0 && (st.st_mode & S_IFMT) == format
         && (format == S_IFIFO || st.st_rdev == node_numbers (node));
}

/* Opens the directory NAME in *DIR and puts it in its place; makes it if missing.  */
static int descend (int *dir, const char *name, struct error *err)
{
  if (str_equal (name, ".") || str_equal (name, ".."))
    return error_set (err, -EINVAL, "\"%s\" is not allowed as a part of a device's path", name);
  const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat (*dir, name, flags);
  if (fd < 0 && errno == ENOENT)
    {
      /* Somebody else may have made it in the meantime; what it is, the second open tells.  */
      if (mkdirat (*dir, name, 0755) < 0 && errno != EEXIST)
        return error_errno (err, errno, "make directory %s", name);
      fd = openat (*dir, name, flags);
    }
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
    return error_set (err, -ENOTDIR, "%s in the root file system is a link or not a directory",
                      name);
  if (fd < 0)
    return error_errno (err, errno, "open directory %s", name);
  close (*dir);
  *dir = fd;
  return 0;
}

/* The directory of PATH; *RET_NAME points at the last component, in *RET_COPY.  */
static int open_parent (int rootfd, const char *path, char **ret_copy, const char **ret_name,
                        int *ret_dir, struct error *err)
{
  cleanup_free char *copy = strdup (path);
  if (copy == NULL)
    return error_errno (err, ENOMEM, "device %s", path);
  cleanup_close int dir = openat (rootfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0)
    return error_errno (err, errno, "open the root file system");

  char *rest = NULL;
  char *name = strtok_r (copy, "/", &rest);
  for (char *next; name != NULL && (next = strtok_r (NULL, "/", &rest)) != NULL; name = next)
    {
      int r = descend (&dir, name, err);
      if (r < 0)
        return r;
    }
  if (path[0] != '/' || name == NULL || str_equal (name, ".") || str_equal (name, ".."))
    return error_set (err, -EINVAL, "\"%s\" is not the absolute path of a device", path);

  *ret_name = name;
  *ret_copy = steal_ptr (&copy);
  *ret_dir = steal_fd (&dir);
  return 0;
}

/* Exactly the mode and the owner, whatever the umask; the mode last, because chown takes bits away.
 */
static int set_attributes (int fd, int procfd, const struct device_node *node, struct error *err)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "look at device %s", node->path);
  if ((st.st_uid != node->uid || st.st_gid != node->gid)
      && fchownat (fd, "", node->uid, node->gid, AT_EMPTY_PATH) < 0)
    return error_errno (err, errno, "set owner %u:%u of device %s", node->uid, node->gid,
                        node->path);
  if ((st.st_mode & 07777) == (node->mode & 07777))
    return 0;
  return procfs_chmod (procfd, fd, node->mode, node->path, err);
}

/* Nothing is left to do, as is usual: the umask is 0 and the owner root.  */
static bool is_as_asked (int dir, const char *name, const struct device_node *node, mode_t format)
{
  struct stat st;
  return fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == format
         && (format == S_IFIFO || st.st_rdev == node_numbers (node)) && st.st_uid == node->uid
         && st.st_gid == node->gid && (st.st_mode & 07777) == (node->mode & 07777);
}

static int bind_node (int dir, const char *name, const struct device_node *node, mode_t format,
                      int host_tree, struct error *err)
{
  if (!is_node (host_tree, node, format))
    return error_set (err, -ENXIO, "device %s: the host's node is another device", node->path);
  cleanup_close int made =
      openat (dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0)
    return error_errno (err, errno, "make file %s to bind a device on", node->path);
  return mount_attach (host_tree, made, node->path, err);
}

static int make_at (int dir, const char *name, int procfd, const struct device_node *node,
                    int host_tree, struct error *err)
{
  const mode_t format = node_format (node);
  if (format == 0)
    return type_error (node, err);

  bool existed = false;
  if (mknodat (dir, name, format | (node->mode & 0777), node_numbers (node)) < 0)
    {
      if (errno == EPERM && host_tree >= 0)
        return bind_node (dir, name, node, format, host_tree, err);
      if (errno != EEXIST)
        return error_errno (err, errno, "make device %s", node->path);
      existed = true;
    }

  if (is_as_asked (dir, name, node, format))
    return 0;
  cleanup_close int fd = openat (dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open device %s", node->path);
  if (!is_node (fd, node, format))
    return error_set (err, -EEXIST, "device %s: %s", node->path,
                      existed ? "something else of this name is in the root file system"
                              : "it was replaced while it was made");
  return set_attributes (fd, procfd, node, err);
}

int device_make (int rootfd, int procfd, const struct device_node *node, int host_tree,
                 struct error *err)
{
  cleanup_free char *copy = NULL;
  cleanup_close int dir = -1;
  const char *name = NULL;
  int r = open_parent (rootfd, node->path, &copy, &name, &dir, err);
  if (r < 0)
    return error_context (err, "device %s", node->path);
  return make_at (dir, name, procfd, node, host_tree, err);
}

int device_host_open (const struct device_node *node, int *ret_tree, struct error *err)
{
  const mode_t format = node_format (node);
  if (format == 0)
    return type_error (node, err);
  cleanup_close int fd = open (node->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open %s of the host", node->path);
  cleanup_close int tree = -1;
  int r = mount_clone (fd, "", false, &tree, err);
  if (r < 0)
    return r;
  if (!is_node (tree, node, format))
    return error_set (err, -ENXIO, "%s of the host is not device %c %u:%u", node->path, node->type,
                      node->major, node->minor);
  r = mount_set (tree, false, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0, MS_PRIVATE, node->path,
                 err);
  if (r < 0)
    return r;
  *ret_tree = steal_fd (&tree);
  return 0;
}

int device_dir_open (int rootfd, int *ret_fd, struct error *err)
{
  int fd = openat (rootfd, "dev", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
    return error_set (err, -ENOTDIR, "/dev of the root file system is a link or not a directory");
  if (fd < 0)
    return error_errno (err, errno, "open /dev of the root file system");
  *ret_fd = fd;
  return 0;
}

/* Opening 5:2 takes the pts/ beside the node, so it is as good as the link.  */
static bool is_ptmx_node (int dev, const char *name)
{
  struct stat st;
  return str_equal (name, "ptmx") && fstatat (dev, name, &st, AT_SYMLINK_NOFOLLOW) == 0
         && S_ISCHR (st.st_mode) && st.st_rdev == makedev (5, 2);
}

static int make_link (int dev, const char *name, const char *target, struct error *err)
{
  if (symlinkat (target, dev, name) == 0)
    return 0;
  if (errno != EEXIST)
    return error_errno (err, errno, "make link /dev/%s", name);
  char found[64];
  ssize_t n = readlinkat (dev, name, found, sizeof (found));
  if (n >= 0 && (size_t)n == strlen (target) && memcmp (found, target, (size_t)n) == 0)
    return 0;
  if (is_ptmx_node (dev, name))
    return 0;
  return error_set (err, -EEXIST, "/dev/%s in the root file system is not the link to %s", name,
                    target);
}

int device_defaults (int rootfd, int procfd, const int *host_trees, struct error *err)
{
  cleanup_close int dev = -1;
  int r = device_dir_open (rootfd, &dev, err);
  for (size_t i = 0; r == 0 && i < device_default_nodes_len; i++)
    r = make_at (dev, device_default_nodes[i].path + strlen ("/dev/"), procfd,
                 &device_default_nodes[i], host_trees != NULL ? host_trees[i] : -1, err);
  for (size_t i = 0; r == 0 && i < ARRAY_SIZE (default_links); i++)
    r = make_link (dev, default_links[i].name, default_links[i].target, err);
  return r;
}
