/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: how /proc is opened, read and written.  Runs in every process; a private procfs needs
   CAP_SYS_ADMIN over the mount namespace, the fallback needs nothing.  */

#include "linux/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "linux/mounts.h"

/* Without the privilege to make a mount we have to believe the one that is there; a bind of some
   other procfs file or directory (/proc/sys on /proc) is told by its inode not being a mount's
   root, or by its not being inode 1, the root of every procfs.  */
static int open_existing (int *ret_fd, struct error *err)
{
  cleanup_close int fd =
      open ("/proc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); /* host or verified below */
  if (fd < 0)
    return error_errno (err, errno, "open /proc");

  struct statfs fs;
  struct statx st;
  if (fstatfs (fd, &fs) < 0 || statx (fd, "", AT_EMPTY_PATH, STATX_INO, &st) < 0)
    return error_errno (err, errno, "look at /proc");
  if (fs.f_type != PROC_SUPER_MAGIC || st.stx_ino != 1
      || !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
    return error_set (err, -ENOTSUP, "/proc is not the root of a mounted procfs");
  *ret_fd = steal_fd (&fd);
  return 0;
}

int procfs_open (int *ret_fd, struct error *err)
{
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  int r = mount_new_fs ("proc", NULL, NULL, 0, attributes, ret_fd, err);
  if (r == -EPERM || r == -EACCES || r == -ENOSYS)
    return open_existing (ret_fd, err);
  return r;
}

int procfs_open_file (int procfd, const char *path, uint64_t flags, int *ret_fd, struct error *err)
{
  int fd = path_openat2 (procfd, path, flags, 0,
                         RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
  if (fd < 0)
    return error_errno (err, -fd, "open %s in procfs", path);
  *ret_fd = fd;
  return 0;
}

int procfs_write (int procfd, const char *path, const char *data, struct error *err)
{
  cleanup_close int fd = -1;
  int r = procfs_open_file (procfd, path, O_WRONLY, &fd, err);
  if (r < 0)
    return r;

  /* One call: the kernel takes each write as a value of its own.  */
  ssize_t written;
  do
    written = write (fd, data, strlen (data));
  while (written < 0 && errno == EINTR);
  if (written < 0)
    return error_errno (err, errno, "write to %s in procfs", path);
  if ((size_t)written != strlen (data))
    return error_set (err, -EIO, "write to %s in procfs: only %zd of %zu bytes were taken", path,
                      written, strlen (data));
  return 0;
}

int procfs_read (int procfd, const char *path, size_t max, char **ret, size_t *ret_len,
                 struct error *err)
{
  cleanup_close int fd = -1;
  int r = procfs_open_file (procfd, path, O_RDONLY, &fd, err);
  if (r < 0)
    return r;
  return fd_read_knob (fd, max, path, ret, ret_len, err);
}

/* 64 Ki supplementary groups of ten digits are the longest line.  */
#define STATUS_MAX (1024 * 1024)

/* The value behind "\nNAME:\t", 16 digits.  */
static bool find_mask (const char *text, const char *name, uint64_t *ret)
{
  size_t len = strlen (name);
  for (const char *line = text; line != NULL; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, name, len) != 0 || line[len] != ':')
        continue;
      char *end;
      errno = 0;
      unsigned long long value = strtoull (line + len + 1, &end, 16);
      if (errno != 0 || *end != '\n')
        return false;
      *ret = value;
      return true;
    }
  return false;
}

int procfs_own_masks (int procfd, const char *const *names, uint64_t *ret, size_t n,
                      struct error *err)
{
  cleanup_free char *text = NULL;
  size_t len;
  int r = procfs_read (procfd, "thread-self/status", STATUS_MAX, &text, &len, err);
  for (size_t i = 0; r == 0 && i < n; i++)
    if (!find_mask (text, names[i], &ret[i]))
      r = error_set (err, -EBADMSG, "thread-self/status in procfs has no %s", names[i]);
  return r;
}

/* The magic link of a descriptor of ours is followed on purpose: it leads to that very object.  */
static int open_own_fds (int procfd, int fd, char name[16], int *ret_dirfd, struct error *err)
{
  snprintf (name, 16, "%d", fd);
  return procfs_open_file (procfd, "thread-self/fd", O_PATH | O_DIRECTORY, ret_dirfd, err);
}

int procfs_reopen (int procfd, int fd, uint64_t flags, int *ret_fd, struct error *err)
{
  cleanup_close int dirfd = -1;
  char name[16];
  int r = open_own_fds (procfd, fd, name, &dirfd, err);
  if (r < 0)
    return r;
  int reopened = openat (dirfd, name, (int)flags | O_CLOEXEC);
  if (reopened < 0)
    return error_errno (err, errno, "open descriptor %d again", fd);
  *ret_fd = reopened;
  return 0;
}

int procfs_chmod (int procfd, int fd, mode_t mode, const char *what, struct error *err)
{
  cleanup_close int dirfd = -1;
  char name[16];
  int r = open_own_fds (procfd, fd, name, &dirfd, err);
  if (r < 0)
    return r;
  if (fchmodat (dirfd, name, mode & 07777, 0) < 0)
    return error_errno (err, errno, "set mode %04o of %s", (unsigned)mode & 07777, what);
  return 0;
}
