/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the pseudo-terminal, from its devpts to the socket of --console-socket.  terminal_new,
   _take and _bind_console run in init, before the change of user (CAP_SYS_ADMIN for the bind,
   CAP_CHOWN for the owner); terminal_console_connect runs in the parent.  Every device is checked
   on the descriptor: the image and a shared volume can put anything under its name (invariant I3).
 */

#include "linux/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "linux/device.h"
#include "linux/mounts.h"
#include "linux/unix_socket.h"

/* Documentation/admin-guide/devices.txt: UNIX98_PTY_SLAVE_MAJOR and following.  */
#define PTS_MAJOR_FIRST 136
#define PTS_MAJOR_LAST  143

void terminal_close (struct terminal *terminal)
{
  cleanup_closep (&terminal->master);
  cleanup_closep (&terminal->slave);
  terminal->master = terminal->slave = -1;
}

static bool is_devpts (int fd)
{
  struct statfs fs;
  return fstatfs (fd, &fs) == 0 && fs.f_type == DEVPTS_SUPER_MAGIC;
}

static int verify_slave (int slave, int pts_dirfd, struct error *err)
{
  struct stat st, dir;
  if (fstat (slave, &st) < 0 || fstat (pts_dirfd, &dir) < 0)
    return error_errno (err, errno, "look at the terminal");
  if (!S_ISCHR (st.st_mode) || major (st.st_rdev) < PTS_MAJOR_FIRST
      || major (st.st_rdev) > PTS_MAJOR_LAST || st.st_dev != dir.st_dev || !is_devpts (slave))
    return error_set (err, -ENOTTY, "the terminal is not a pts of the container's devpts");
  return 0;
}

static int open_master (int pts_dirfd, int *ret_fd, struct error *err)
{
  if (!is_devpts (pts_dirfd))
    return error_set (err, -ENOTTY, "/dev/pts is not a devpts; process.terminal needs one");
  int fd = openat (pts_dirfd, "ptmx", O_RDWR | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open ptmx of the container's devpts");
  *ret_fd = fd;
  return 0;
}

int terminal_new (int pts_dirfd, struct terminal *ret, struct error *err)
{
  cleanup_terminal struct terminal made = TERMINAL_INIT;
  int r = open_master (pts_dirfd, &made.master, err);
  if (r < 0)
    return r;
  int unlocked = 0;
  unsigned number;
  if (ioctl (made.master, TIOCSPTLCK, &unlocked) < 0 || ioctl (made.master, TIOCGPTN, &number) < 0)
    return error_errno (err, errno, "unlock the terminal");

  /* Not by name: TIOCGPTPEER opens the very slave of this master.  */
  made.slave = ioctl (made.master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (made.slave < 0)
    return error_errno (err, errno, "open the slave of the terminal");
  r = verify_slave (made.slave, pts_dirfd, err);
  if (r < 0)
    return r;

  snprintf (made.name, sizeof (made.name), "/dev/pts/%u", number);
  *ret = made;
  made.master = made.slave = -1;
  return 0;
}

int terminal_reopen (struct terminal *terminal, int rootfd, struct error *err)
{
  cleanup_close int fd = path_openat2 (rootfd, terminal->name, O_RDWR | O_NOCTTY, 0,
                                       RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  struct stat now, before;
  if (fd < 0)
    return error_errno (err, -fd, "open the terminal %s again", terminal->name);
  if (fstat (fd, &now) < 0 || fstat (terminal->slave, &before) < 0)
    return error_errno (err, errno, "look at the terminal");
  if (now.st_dev != before.st_dev || now.st_ino != before.st_ino || now.st_rdev != before.st_rdev)
    return error_set (err, -ENOTTY, "%s is no longer the container's terminal", terminal->name);
  close (terminal->slave);
  terminal->slave = steal_fd (&fd);
  return 0;
}

int terminal_set_size (int fd, uint32_t height, uint32_t width, struct error *err)
{
  if (height == 0 && width == 0)
    return 0;
  if (height > USHRT_MAX || width > USHRT_MAX)
    return error_set (err, -ERANGE, "terminal size %u x %u is above %d", height, width, USHRT_MAX);
  struct winsize size = { .ws_row = (unsigned short)height, .ws_col = (unsigned short)width };
  if (ioctl (fd, TIOCSWINSZ, &size) < 0)
    return error_errno (err, errno, "set the size of the terminal");
  return 0;
}

int terminal_set_owner (int slave, uid_t uid, struct error *err)
{
  if (fchown (slave, uid, (gid_t)-1) < 0)
    return error_errno (err, errno, "set the owner of the terminal");
  return 0;
}

int terminal_take (int slave, struct error *err)
{
  if (setsid () < 0 && getsid (0) != getpid ())
    return error_errno (err, errno, "make a session");
  if (ioctl (slave, TIOCSCTTY, 0) < 0)
    return error_errno (err, errno, "take the terminal as controlling terminal");
  for (int fd = 0; fd <= 2; fd++)
    if (dup2 (slave, fd) < 0)
      return error_errno (err, errno, "make the terminal descriptor %d", fd);
  return 0;
}

/* O_PATH of /dev/console as it is, or as an empty file that is made.  */
static int open_console (int dev, int *ret_fd, struct error *err)
{
  int made = openat (dev, "console", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0 && errno != EEXIST)
    return error_errno (err, errno, "make /dev/console");
  if (made >= 0)
    close (made);
  cleanup_close int fd = openat (dev, "console", O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0)
    return error_errno (err, errno, "open /dev/console");
  if (!S_ISREG (st.st_mode) && !S_ISCHR (st.st_mode))
    return error_set (err, -EINVAL, "/dev/console in the root file system is a link or no file");
  *ret_fd = steal_fd (&fd);
  return 0;
}

int terminal_bind_console (int rootfd, int slave, struct error *err)
{
  cleanup_close int dev = -1, target = -1, tree = -1;
  int r = device_dir_open (rootfd, &dev, err);
  if (r == 0)
    r = open_console (dev, &target, err);
  if (r == 0)
    r = mount_clone (slave, "", false, &tree, err);
  if (r == 0)
    r = mount_set (tree, false, 0, 0, MS_PRIVATE, "/dev/console", err);
  if (r == 0)
    r = mount_attach (tree, target, "/dev/console", err);
  if (r < 0)
    return error_context (err, "set up the console");

  struct stat is, wanted;
  if (fstatat (dev, "console", &is, AT_SYMLINK_NOFOLLOW) < 0 || fstat (slave, &wanted) < 0)
    return error_errno (err, errno, "look at /dev/console");
  if (!S_ISCHR (is.st_mode) || is.st_dev != wanted.st_dev || is.st_ino != wanted.st_ino)
    return error_set (err, -ESTALE, "/dev/console was replaced while it was mounted");
  return 0;
}

int terminal_console_connect (const char *path, int *ret_sock, struct error *err)
{
  return unix_connect (path, "console socket", ret_sock, err);
}

int terminal_send (int sock, const struct terminal *terminal, struct error *err)
{
  int r = fd_send (sock, terminal->master, terminal->name, strlen (terminal->name), err);
  return r < 0 ? error_context (err, "send the terminal over the console socket") : 0;
}
