/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: copying a directory of the image into a tmpfs.  Runs in init before the change of user;
   CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER, CAP_MKNOD for nodes.  The source is the image's, so
   hostile: names are opened without following links and without leaving the mount, and what was
   opened is looked at again.  */

#include "linux/copy_up.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"

#define DEPTH_MAX 64

static int copy_error (struct error *err, int errnum, const char *what, const char *name)
{
  char quoted[STR_QUOTE_MAX];
  return error_errno (err, errnum, "tmpcopyup: %s %s", what, str_quote (name, quoted));
}

/* Attributes that the tmpfs doesn't know or we may not set are left out, as the option promises no
   more than a copy of the data.  */
static int copy_xattr (int source, int target, const char *attribute, const char *name,
                       struct error *err)
{
  ssize_t size = fgetxattr (source, attribute, NULL, 0);
  cleanup_free char *value = size >= 0 ? malloc ((size_t)size + 1) : NULL;
  if (size >= 0 && value == NULL)
    return copy_error (err, ENOMEM, "attributes of", name);
  if (size < 0 || (size = fgetxattr (source, attribute, value, (size_t)size)) < 0)
    return 0; /* not readable, or changed just now */
  if (fsetxattr (target, attribute, value, (size_t)size, 0) < 0 && errno != ENOTSUP
      && errno != EPERM && errno != EACCES)
    return copy_error (err, errno, attribute, name);
  return 0;
}

static int copy_xattrs (int source, int target, const char *name, struct error *err)
{
  ssize_t size = flistxattr (source, NULL, 0);
  if (size <= 0)
    return 0;
  cleanup_free char *list = malloc ((size_t)size);
  if (list == NULL)
    return copy_error (err, ENOMEM, "attributes of", name);
  size = flistxattr (source, list, (size_t)size);
  for (char *at = list; size > 0 && at < list + size; at += strlen (at) + 1)
    {
      int r = copy_xattr (source, target, at, name, err);
      if (r < 0)
        return r;
    }
  return 0;
}

/* Owner before mode and attributes: a change of owner drops set-uid and file capabilities.  */
static int copy_attributes (int source, int target, const char *name, struct error *err)
{
  struct stat st;
  if (fstat (source, &st) < 0)
    return copy_error (err, errno, "look at", name);
  if (fchown (target, st.st_uid, st.st_gid) < 0)
    return copy_error (err, errno, "owner of", name);
  if (fchmod (target, st.st_mode & 07777) < 0)
    return copy_error (err, errno, "mode of", name);
  int r = copy_xattrs (source, target, name, err);
  if (r < 0)
    return r;
  const struct timespec times[2] = { st.st_atim, st.st_mtim };
  if (futimens (target, times) < 0)
    return copy_error (err, errno, "times of", name);
  return 0;
}

static int open_source (int dir, const char *name, uint64_t flags, mode_t format, int *ret_fd,
                        struct error *err)
{
  /* O_NONBLOCK: a pipe put there since we looked must not hold us up.  */
  cleanup_close int fd = path_openat2 (dir, name, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0,
                                       RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
  struct stat st;
  if (fd == -EXDEV)
    return copy_error (err, EXDEV, "something is mounted on", name);
  if (fd < 0)
    return copy_error (err, -fd, "open", name);
  if (fstat (fd, &st) < 0 || (st.st_mode & S_IFMT) != format)
    return copy_error (err, ESTALE, "a change meanwhile of", name);
  *ret_fd = steal_fd (&fd);
  return 0;
}

static int copy_directory (int source, int target, unsigned depth, const char *name,
                           struct error *err);

static int copy_subdirectory (int source_dir, int target_dir, const char *name,
                              const struct stat *st, unsigned depth, struct error *err)
{
  (void)st;
  if (depth >= DEPTH_MAX)
    return copy_error (err, ELOOP, "too deep:", name);
  cleanup_close int source = -1;
  int r = open_source (source_dir, name, O_DIRECTORY, S_IFDIR, &source, err);
  if (r < 0)
    return r;
  if (mkdirat (target_dir, name, 0700) < 0)
    return copy_error (err, errno, "make", name);
  cleanup_close int target =
      openat (target_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (target < 0)
    return copy_error (err, errno, "open the copy of", name);
  return copy_directory (source, target, depth + 1, name, err);
}

static int copy_regular (int source_dir, int target_dir, const char *name, const struct stat *st,
                         unsigned depth, struct error *err)
{
  (void)st, (void)depth;
  cleanup_close int source = -1;
  int r = open_source (source_dir, name, 0, S_IFREG, &source, err);
  if (r < 0)
    return r;
  cleanup_close int target =
      openat (target_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (target < 0)
    return copy_error (err, errno, "make", name);
  ssize_t n;
  while ((n = sendfile (target, source, NULL, 1 << 30)) != 0)
    if (n < 0 && errno != EINTR)
      return copy_error (err, errno, "copy", name);
  return copy_attributes (source, target, name, err);
}

static int copy_link (int source_dir, int target_dir, const char *name, const struct stat *st,
                      unsigned depth, struct error *err)
{
  (void)depth;
  char target[PATH_MAX];
  ssize_t n = readlinkat (source_dir, name, target, sizeof (target));
  if (n < 0 || n == sizeof (target))
    return copy_error (err, n < 0 ? errno : ENAMETOOLONG, "read link", name);
  target[n] = '\0';
  const struct timespec times[2] = { st->st_atim, st->st_mtim };
  if (symlinkat (target, target_dir, name) < 0
      || fchownat (target_dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0
      || utimensat (target_dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
    return copy_error (err, errno, "make link", name);
  return 0;
}

static int copy_node (int source_dir, int target_dir, const char *name, const struct stat *st,
                      unsigned depth, struct error *err)
{
  (void)source_dir, (void)depth;
  const struct timespec times[2] = { st->st_atim, st->st_mtim };
  /* Nobody but us knows the tmpfs yet, so the names in it are ours and fchmodat is safe.  */
  if (mknodat (target_dir, name, (st->st_mode & S_IFMT) | 0600, st->st_rdev) < 0
      || fchownat (target_dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0
      || fchmodat (target_dir, name, st->st_mode & 07777, 0) < 0
      || utimensat (target_dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
    return copy_error (err, errno, "make node", name);
  return 0;
}

static const struct
{
  mode_t format;
  int (*copy) (int source_dir, int target_dir, const char *name, const struct stat *st,
               unsigned depth, struct error *err);
} copiers[] = {
  { S_IFDIR, copy_subdirectory }, { S_IFREG, copy_regular }, { S_IFLNK, copy_link },
  { S_IFCHR, copy_node },         { S_IFBLK, copy_node },    { S_IFIFO, copy_node },
  { S_IFSOCK, copy_node },
};

static int copy_entry (int source_dir, int target_dir, const char *name, unsigned depth,
                       struct error *err)
{
  struct stat st;
  if (fstatat (source_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return copy_error (err, errno, "look at", name);
  for (size_t i = 0; i < ARRAY_SIZE (copiers); i++)
    if (copiers[i].format == (st.st_mode & S_IFMT))
      return copiers[i].copy (source_dir, target_dir, name, &st, depth, err);
  return copy_error (err, EINVAL, "unknown type of", name);
}

static int open_stream (int fd, const char *name, DIR **ret, struct error *err)
{
  cleanup_close int again = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = again >= 0 ? fdopendir (again) : NULL;
  if (dir == NULL)
    return copy_error (err, errno, "read directory", name);
  steal_fd (&again);
  *ret = dir;
  return 0;
}

static int copy_directory (int source, int target, unsigned depth, const char *name,
                           struct error *err)
{
  cleanup_dir DIR *dir = NULL;
  int r = open_stream (source, name, &dir, err);
  if (r < 0)
    return r;
  for (;;)
    {
      errno = 0;
      struct dirent *entry = readdir (dir);
      if (entry == NULL && errno != 0)
        return copy_error (err, errno, "read directory", name);
      if (entry == NULL)
        break;
      if (str_equal (entry->d_name, ".") || str_equal (entry->d_name, ".."))
        continue;
      r = copy_entry (source, target, entry->d_name, depth, err);
      if (r < 0)
        return r;
    }
  return copy_attributes (source, target, name, err);
}

int mount_copy_up (int source_dirfd, int target_dirfd, struct error *err)
{
  return copy_directory (source_dirfd, target_dirfd, 0, ".", err);
}
