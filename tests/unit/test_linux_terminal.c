/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux/terminal.c with a devpts of its own in a mount namespace.  As root.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <termios.h>

#include "linux_child.h"
#include "base/path.h"
#include "linux/mounts.h"
#include "linux/terminal.h"

static struct error err;

/* A root on /mnt with /dev/pts; returns O_PATH of the root.  */
static int make_root (int *ret_pts)
{
  static char *const parameters[] = { "newinstance", "ptmxmode=0666", "mode=0620", "gid=5" };
  int root = -1, pts = -1;
  CHECK_OK (mount_new_fs ("tmpfs", "image", NULL, 0, 0, &root, &err));
  CHECK_OK (mount_attach (root, open ("/mnt", O_PATH), "/mnt", &err));
  CHECK (mkdirat (root, "dev", 0755) == 0 && mkdirat (root, "dev/pts", 0755) == 0);
  CHECK_OK (mount_new_fs ("devpts", "devpts", parameters, 4, 0, &pts, &err));
  CHECK_OK (mount_attach (pts, openat (root, "dev/pts", O_PATH), "/dev/pts", &err));
  *ret_pts = pts;
  return root;
}

static void terminal_body (void)
{
  int pts, root = make_root (&pts);
  struct terminal terminal = TERMINAL_INIT;
  struct winsize size;
  struct stat st;
  char text[8] = { 0 };
  CHECK_OK (terminal_new (pts, &terminal, &err));
  CHECK (strcmp (terminal.name, "/dev/pts/0") == 0);
  CHECK_OK (terminal_set_size (terminal.master, 50, 132, &err));
  CHECK (ioctl (terminal.slave, TIOCGWINSZ, &size) == 0 && size.ws_row == 50 && size.ws_col == 132);
  CHECK_FAILS (terminal_set_size (terminal.master, 65536, 1, &err), -ERANGE, "65536");
  CHECK_OK (terminal_set_owner (terminal.slave, 1000, &err));
  CHECK (stat ("/mnt/dev/pts/0", &st) == 0 && st.st_uid == 1000 && st.st_gid == 5);

  CHECK_OK (terminal_bind_console (root, terminal.slave, &err));
  int console = open ("/mnt/dev/console", O_RDWR | O_NOCTTY);
  CHECK (console >= 0 && isatty (console) && write (console, "hi", 2) == 2);
  CHECK (read (terminal.master, text, 2) == 2 && strcmp (text, "hi") == 0);

  CHECK_OK (terminal_take (terminal.slave, &err));
  CHECK (tcgetsid (0) == getpid () && tcgetsid (2) == getpid ());
  CHECK (open ("/dev/tty", O_RDWR) >= 0);
  signal (SIGHUP, SIG_IGN); /* the master's end is a hangup for its session */
  terminal_close (&terminal);
  CHECK (terminal.master == -1);
}

/* CVE-2025-52565, CVE-2026-88264.  */
static void console_hostile (void)
{
  int pts, root = make_root (&pts);
  struct terminal terminal = TERMINAL_INIT;
  struct stat st;
  CHECK_OK (terminal_new (pts, &terminal, &err));
  write_file (root, "victim", "precious");
  CHECK (symlinkat ("../victim", root, "dev/console") == 0);
  CHECK_FAILS (terminal_bind_console (root, terminal.slave, &err), -EINVAL, "link");
  CHECK (unlinkat (root, "dev/console", 0) == 0);
  CHECK (symlinkat ("../made", root, "dev/console") == 0);
  CHECK_FAILS (terminal_bind_console (root, terminal.slave, &err), -EINVAL, "link");
  CHECK (fstatat (root, "made", &st, 0) < 0);
  CHECK (fstatat (root, "victim", &st, 0) == 0 && S_ISREG (st.st_mode));
  CHECK (unlinkat (root, "dev/console", 0) == 0 && mkdirat (root, "dev/console", 0755) == 0);
  CHECK_FAILS (terminal_bind_console (root, terminal.slave, &err), -EINVAL, "no file");

  CHECK (umount2 ("/mnt/dev/pts", MNT_DETACH) == 0 && renameat (root, "dev", root, "d2") == 0);
  CHECK (symlinkat ("d2", root, "dev") == 0 && unlinkat (root, "d2/console", AT_REMOVEDIR) == 0);
  CHECK_FAILS (terminal_bind_console (root, terminal.slave, &err), -ENOTDIR, "/dev");
  CHECK (fstatat (root, "d2/console", &st, 0) < 0);
}

/* Not a devpts: a directory with a ptmx of any kind.  */
static void ptmx_hostile (void)
{
  int pts, root = make_root (&pts);
  struct terminal terminal = TERMINAL_INIT;
  CHECK (mkdirat (root, "fake", 0755) == 0);
  CHECK (mknodat (root, "fake/ptmx", S_IFCHR | 0666, makedev (5, 2)) == 0);
  int fake = openat (root, "fake", O_PATH);
  CHECK_FAILS (terminal_new (fake, &terminal, &err), -ENOTTY, "devpts");
  CHECK (terminal.master == -1);
}

static void send_through (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  struct terminal terminal = TERMINAL_INIT;
  int pts, sock = -1, listener = socket (AF_UNIX, SOCK_STREAM, 0);
  char name[32] = { 0 }, control[CMSG_SPACE (sizeof (int))];
  make_root (&pts);
  CHECK_OK (terminal_new (pts, &terminal, &err));
  strcpy (address.sun_path, "sock");
  CHECK (bind (listener, (struct sockaddr *)&address, sizeof (address)) == 0);
  CHECK (listen (listener, 1) == 0);
  CHECK_OK (terminal_console_connect (path, &sock, &err));
  CHECK_OK (terminal_send (sock, &terminal, &err));

  struct iovec data = { name, sizeof (name) - 1 };
  struct msghdr message = {
    .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof (control)
  };
  CHECK (recvmsg (accept (listener, NULL, NULL), &message, 0) == 10);
  CHECK (strcmp (name, "/dev/pts/0") == 0);
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  CHECK (header != NULL && header->cmsg_type == SCM_RIGHTS);
  int master;
  memcpy (&master, CMSG_DATA (header), sizeof (master));
  CHECK (isatty (master) && write (terminal.slave, "x", 1) == 1 && read (master, name, 1) == 1);
  CHECK_FAILS (terminal_console_connect ("/none/sock", &sock, &err), -ENOENT, "/none/sock");
}

static void send_body (void)
{
  char name[101], path[512];
  CHECK (mount ("t", "/tmp", "tmpfs", 0, NULL) == 0 && chdir ("/tmp") == 0);
  send_through ("/tmp/sock");
  CHECK (unlink ("sock") == 0);
  memset (name, 'd', 100); /* longer than an address */
  name[100] = '\0';
  CHECK (mkdir (name, 0755) == 0 && chdir (name) == 0);
  snprintf (path, sizeof (path), "/tmp/%s/sock", name);
  send_through (path);
}

static void test_terminal (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, terminal_body), 0);
  assert_int_equal (child_run (CLONE_NEWNS, console_hostile), 0);
  assert_int_equal (child_run (CLONE_NEWNS, ptmx_hostile), 0);
  assert_int_equal (child_run (CLONE_NEWNS, send_body), 0);
}

int main (void)
{
  if (skip_all_without_root ())
    return 0;
  const struct CMUnitTest tests[] = { cmocka_unit_test (test_terminal) };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
