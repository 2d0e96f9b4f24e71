/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux: procfs, mounts, rootfs, mask, device, copy_up in mount namespaces of their own.  As
   root.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "linux_child.h"
#include "base/path.h"
#include "linux/copy_up.h"
#include "linux/device.h"
#include "linux/mask.h"
#include "linux/mounts.h"
#include "linux/procfs.h"
#include "linux/rootfs.h"

static struct error err;

/* A tmpfs that stands for the image, attached on /mnt of the namespace: O_PATH of its root.  */
static int make_root (void)
{
  int tree = -1;
  CHECK_OK (mount_new_fs ("tmpfs", "image", NULL, 0, 0, &tree, &err));
  int mnt = open ("/mnt", O_PATH | O_DIRECTORY);
  CHECK (mnt >= 0);
  CHECK_OK (mount_attach (tree, mnt, "/mnt", &err));
  close (mnt);
  return tree;
}

static unsigned long flags_of (int rootfd, const char *path)
{
  int fd = path_open_in_root (rootfd, path, O_PATH, &err);
  struct statvfs fs;
  CHECK (fd >= 0 && fstatvfs (fd, &fs) == 0);
  close (fd);
  return fs.f_flag;
}

/* ---- procfs */

static void procfs_names_caller (void)
{
  int proc = -1;
  char *text = NULL;
  size_t len;
  CHECK_OK (procfs_open (&proc, &err));
  CHECK_OK (procfs_read (proc, "self/stat", 4096, &text, &len, &err));
  CHECK (strncmp (text, "1 (", 3) == 0); /* of the new pid namespace, not of the host's /proc */
  free (text);
  CHECK_OK (procfs_read (proc, "thread-self/status", 8192, &text, &len, &err));
  CHECK (strstr (text, "\nPid:\t1\n") != NULL);
  CHECK_FAILS (procfs_read (proc, "self/exe", 64, &text, &len, &err), -ELOOP, "self/exe");
  CHECK_FAILS (procfs_write (proc, "../etc/x", "1", &err), -EXDEV, "../etc/x");
  CHECK_FAILS (procfs_write (proc, "self/nothing", "1", &err), -ENOENT, "ENOENT");
  CHECK_OK (procfs_write (proc, "self/comm", "tester", &err));
  CHECK_OK (procfs_read (proc, "self/comm", 64, &text, &len, &err));
  CHECK (strcmp (text, "tester\n") == 0);
}

static void test_procfs_names_caller (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS | CLONE_NEWPID, procfs_names_caller), 0);
}

/* CVE-2025-52881: what is mounted over the visible /proc does not redirect a write.  */
static void procfs_not_redirected (void)
{
  CHECK (mount ("fake", "/proc", "tmpfs", 0, NULL) == 0);
  CHECK (mkdir ("/proc/self", 0755) == 0);
  write_file (AT_FDCWD, "/proc/self/comm", "fake\n");
  int proc = -1;
  struct statfs fs;
  CHECK_OK (procfs_open (&proc, &err));
  CHECK (fstatfs (proc, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC);
  CHECK_OK (procfs_write (proc, "self/comm", "real", &err));
  CHECK (strcmp (first_line ("/proc/self/comm"), "fake") == 0);
}

static void drop_privileges (void)
{
  CHECK (setresgid (65534, 65534, 65534) == 0 && setresuid (65534, 65534, 65534) == 0);
}

static void procfs_unprivileged (void)
{
  int proc = -1;
  char *text;
  size_t len;
  drop_privileges ();
  CHECK_OK (procfs_open (&proc, &err));
  CHECK_OK (procfs_read (proc, "self/stat", 4096, &text, &len, &err));
}

static void procfs_unprivileged_fake (void)
{
  int proc = -1;
  CHECK (mount ("fake", "/proc", "tmpfs", 0, NULL) == 0);
  drop_privileges ();
  CHECK_FAILS (procfs_open (&proc, &err), -ENOTSUP, "/proc is not");
}

/* A part of a real procfs bound on /proc has the right file system type.  */
static void procfs_unprivileged_part (void)
{
  int proc = -1;
  CHECK (mount ("/proc/sys", "/proc", NULL, MS_BIND, NULL) == 0);
  drop_privileges ();
  CHECK_FAILS (procfs_open (&proc, &err), -ENOTSUP, "/proc is not");
}

static void test_procfs_hostile (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, procfs_not_redirected), 0);
  assert_int_equal (child_run (CLONE_NEWNS, procfs_unprivileged), 0);
  assert_int_equal (child_run (CLONE_NEWNS, procfs_unprivileged_fake), 0);
  assert_int_equal (child_run (CLONE_NEWNS, procfs_unprivileged_part), 0);
}

/* A mount inside the private procfs is not crossed.  */
static void procfs_no_xdev (void)
{
  int proc = -1;
  CHECK_OK (procfs_open (&proc, &err));
  int mnt = open ("/mnt", O_PATH), tree = -1;
  CHECK_OK (mount_attach (proc, mnt, "/mnt", &err));
  CHECK_OK (mount_new_fs ("tmpfs", NULL, NULL, 0, 0, &tree, &err));
  int sys = open ("/mnt/sys", O_PATH);
  CHECK_OK (mount_attach (tree, sys, "/mnt/sys", &err));
  CHECK_FAILS (procfs_write (proc, "sys/kernel/hostname", "x", &err), -EXDEV, "EXDEV");
}

static void test_procfs_no_xdev (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS | CLONE_NEWUTS, procfs_no_xdev), 0);
}

/* ---- mounts */

static void mounts_parameters (void)
{
  static char *const good[] = { "mode=0711", "size=64k", "nr_inodes=10" };
  static char *const unknown[] = { "mode=0711", "colour=green" };
  static char *const bad[] = { "size=many" };
  int tree = -1;
  struct stat st;
  CHECK_OK (mount_new_fs ("tmpfs", "t", good, 3, MOUNT_ATTR_NOSUID, &tree, &err));
  CHECK (fstat (tree, &st) == 0 && (st.st_mode & 07777) == 0711);
  int untouched = -7;
  CHECK_FAILS (mount_new_fs ("tmpfs", "t", unknown, 2, 0, &untouched, &err), -EINVAL,
               "colour=green");
  CHECK (strstr (err.message, "Unknown parameter") != NULL); /* the kernel's own words */
  CHECK (untouched == -7);
  CHECK_FAILS (mount_new_fs ("tmpfs", "t", bad, 1, 0, &untouched, &err), -EINVAL, "size=many");
  CHECK_FAILS (mount_new_fs ("no-such-fs", "t", NULL, 0, 0, &untouched, &err), -ENODEV,
               "no-such-fs");
}

static void mounts_attributes (void)
{
  int root = make_root ();
  CHECK_OK (mount_set (root, false, MOUNT_ATTR_NOATIME | MOUNT_ATTR_NODEV, 0, 0, "/mnt", &err));
  CHECK ((flags_of (root, "/") & (ST_NOATIME | ST_NODEV)) == (ST_NOATIME | ST_NODEV));
  CHECK_OK (mount_set (root, false, MOUNT_ATTR_STRICTATIME, MOUNT_ATTR_NODEV, 0, "/mnt", &err));
  CHECK ((flags_of (root, "/") & (ST_NOATIME | ST_RELATIME | ST_NODEV)) == 0);
  CHECK_OK (mount_set (root, false, 0, MOUNT_ATTR_STRICTATIME, 0, "/mnt", &err));
  CHECK ((flags_of (root, "/") & (ST_NOATIME | ST_RELATIME)) == ST_RELATIME);
  CHECK_FAILS (mount_set (root, false, 1u << 30, 0, 0, "the image", &err), -EINVAL, "the image");
}

static void mounts_clone (void)
{
  int root = make_root (), clone = -1;
  CHECK (mkdirat (root, "d", 0755) == 0 && symlinkat ("d", root, "l") == 0);
  write_file (root, "d/f", "x");
  CHECK_OK (mount_clone (root, "d", false, &clone, &err));
  CHECK (faccessat (clone, "f", F_OK, 0) == 0);
  struct stat st;
  CHECK_OK (mount_clone (root, "l", false, &clone, &err)); /* the link itself */
  CHECK (fstat (clone, &st) == 0 && S_ISLNK (st.st_mode));
  CHECK_FAILS (mount_clone (root, "none", false, &clone, &err), -ENOENT, "none");
}

static void test_mounts (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, mounts_parameters), 0);
  assert_int_equal (child_run (CLONE_NEWNS, mounts_attributes), 0);
  assert_int_equal (child_run (CLONE_NEWNS, mounts_clone), 0);
}

/* ---- rootfs */

static void count_mounts (int proc, size_t *ret)
{
  char *text = NULL;
  size_t len;
  CHECK_OK (procfs_read (proc, "self/mountinfo", 1 << 20, &text, &len, &err));
  *ret = 0;
  for (char *at = text; (at = strchr (at, '\n')) != NULL; at++)
    ++*ret;
  free (text);
}

/* As create does it: the tree is cloned in the namespace of the host, attached in the new one, a
   mount is made below it by descriptor, then the pivot.  */
static int image_tree = -1;
static uint64_t image_propagation;

static void pivot_body (void)
{
  int proc = -1, below = -1;
  CHECK_OK (procfs_open (&proc, &err));
  CHECK_OK (rootfs_attach (image_tree, image_propagation, &err));
  CHECK_OK (mount_new_fs ("tmpfs", "below", NULL, 0, 0, &below, &err));
  int target = path_open_in_root (image_tree, "/sub", O_PATH, &err);
  CHECK (target >= 0);
  CHECK_OK (mount_attach (below, target, "/sub", &err));
  CHECK (access ("/etc", F_OK) == 0); /* still the host's root */
  CHECK_OK (rootfs_pivot (image_tree, &err));

  struct stat st;
  char cwd[64];
  CHECK (stat ("/marker", &st) == 0 && access ("/etc", F_OK) < 0);
  CHECK (getcwd (cwd, sizeof (cwd)) != NULL && strcmp (cwd, "/") == 0);
  CHECK (chdir ("../../..") == 0 && access ("marker", F_OK) == 0);
  size_t mounts;
  count_mounts (proc, &mounts);
  CHECK (mounts == 2); /* nothing of the host is left */
  int file = open ("/sub/x", O_CREAT | O_WRONLY, 0600);
  CHECK (file >= 0);

  int root = open ("/", O_PATH);
  CHECK_OK (rootfs_set (root, true, MOUNT_ATTR_NOSUID, image_propagation, &err));
  CHECK (open ("/y", O_CREAT | O_WRONLY, 0600) < 0 && errno == EROFS);
  CHECK (open ("/sub/y", O_CREAT | O_WRONLY, 0600) >= 0);
  CHECK (flags_of (root, "/") & ST_NOSUID);
  char *text = NULL;
  size_t len;
  CHECK_OK (procfs_read (proc, "self/mountinfo", 1 << 20, &text, &len, &err));
  CHECK ((strstr (text, " shared:") != NULL) == (image_propagation == MS_SHARED));
  /* Still a receiver of the host's mounts.  */
  CHECK ((strstr (text, " master:") != NULL) == (image_propagation != MS_PRIVATE));
}

/* The outer namespace stands for the host: everything in it is shared, so what propagates out shows
   in its own mount table.  */
static void pivot_host (void)
{
  size_t before, after;
  int proc = -1;
  /* Not a peer of the real one, in which others may mount meanwhile.  */
  CHECK (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
  CHECK (mount (NULL, "/", NULL, MS_REC | MS_SHARED, NULL) == 0);
  int root = make_root ();
  CHECK (mkdirat (root, "sub", 0755) == 0);
  write_file (root, "marker", "");
  CHECK (mount (NULL, "/mnt", NULL, MS_SHARED, NULL) == 0);
  CHECK_OK (mount_clone (root, "", true, &image_tree, &err));
  CHECK_OK (procfs_open (&proc, &err));
  count_mounts (proc, &before);

  fflush (NULL);
  pid_t pid = fork ();
  if (pid == 0)
    {
      CHECK (unshare (CLONE_NEWNS | CLONE_NEWPID) == 0); /* still shared, as after clone(2) */
      pivot_body ();
      _exit (0);
    }
  CHECK (child_status (pid) == 0);
  count_mounts (proc, &after);
  CHECK (before == after);
}

static void test_rootfs_pivot (void **state)
{
  (void)state;
  static const uint64_t propagations[] = { MS_PRIVATE, MS_SLAVE, MS_SHARED };
  for (size_t i = 0; i < 3; i++)
    {
      image_propagation = propagations[i];
      assert_int_equal (child_run (CLONE_NEWNS, pivot_host), 0);
    }
}

/* ---- masks */

static void mask_kinds (void)
{
  struct mask mask = MASK_INIT;
  int root = make_root ();
  CHECK (mkdirat (root, "d1", 0755) == 0 && mkdirat (root, "d2", 0755) == 0);
  write_file (root, "d1/secret", "x");
  write_file (root, "d2/secret", "x");
  write_file (root, "f1", "secret");
  write_file (root, "f2", "secret");
  CHECK (symlinkat ("/f2", root, "absolute") == 0);
  CHECK (symlinkat ("/etc/passwd", root, "dangling") == 0);
  CHECK (symlinkat ("loop", root, "loop") == 0);
  CHECK_OK (mask_null_open (&mask.null_tree, &err));

  static const char *const paths[] = { "/d1",   "/d2",      "/f1",      "/absolute",
                                       "/none", "/f1/none", "/dangling" };
  for (size_t i = 0; i < sizeof (paths) / sizeof (*paths); i++)
    CHECK_OK (mask_path (&mask, root, paths[i], &err));
  CHECK (access ("/mnt/d1/secret", F_OK) < 0 && access ("/mnt/d2/secret", F_OK) < 0);
  CHECK (mkdir ("/mnt/d2/x", 0755) < 0 && errno == EROFS);
  struct stat st;
  CHECK (stat ("/mnt/f1", &st) == 0 && S_ISCHR (st.st_mode) && st.st_rdev == makedev (1, 3));
  CHECK (stat ("/mnt/f2", &st) == 0 && S_ISCHR (st.st_mode) && st.st_rdev == makedev (1, 3));
  CHECK (strcmp (first_line ("/mnt/f1"), "") == 0);
  CHECK (stat ("/etc/passwd", &st) == 0 && S_ISREG (st.st_mode)); /* the host's is untouched */

  CHECK_FAILS (mask_path (&mask, root, "/loop", &err), -ELOOP, "masked path /loop");
  CHECK_FAILS (mask_path (&mask, root, "/", &err), -EINVAL, "root directory");
  CHECK_FAILS (mask_path (&mask, root, "/d1/../..", &err), -EINVAL, "root directory");
  mask_close (&mask);
}

/* CVE-2025-31133: what the image calls /dev/null plays no part.  */
static void mask_image_null (void)
{
  struct mask mask = MASK_INIT;
  CHECK_OK (mask_null_open (&mask.null_tree, &err)); /* the parent, before */
  int root = make_root ();
  CHECK (mkdirat (root, "dev", 0755) == 0);
  write_file (root, "target", "attacker");
  write_file (root, "f", "secret");
  CHECK (symlinkat ("/target", root, "dev/null") == 0);
  CHECK_OK (mask_path (&mask, root, "/f", &err));
  CHECK (strcmp (first_line ("/mnt/f"), "") == 0);
  mask_close (&mask);

  int fake = -1;
  CHECK_OK (mount_clone (root, "target", false, &fake, &err));
  mask.null_tree = fake;
  CHECK_FAILS (mask_path (&mask, root, "/target", &err), -ENXIO, "1:3");
}

/* A host whose /dev/null is a link or a plain file is not believed either.  */
static void mask_host_null (void)
{
  struct mask mask = MASK_INIT;
  CHECK (mount ("fake", "/dev", "tmpfs", 0, NULL) == 0);
  CHECK (symlink ("/etc/passwd", "/dev/null") == 0);
  CHECK_FAILS (mask_null_open (&mask.null_tree, &err), -ENXIO, "1:3");
  CHECK (unlink ("/dev/null") == 0);
  write_file (AT_FDCWD, "/dev/null", "");
  CHECK_FAILS (mask_null_open (&mask.null_tree, &err), -ENXIO, "1:3");
  CHECK (unlink ("/dev/null") == 0 && mknod ("/dev/null", S_IFBLK | 0666, makedev (1, 3)) == 0);
  CHECK_FAILS (mask_null_open (&mask.null_tree, &err), -ENXIO, "1:3");
}

/* The way of create: the tree comes from another mount namespace.  Several files need clones.  */
static struct mask host_mask = MASK_INIT;

static void mask_other_namespace_body (void)
{
  int root = make_root ();
  write_file (root, "a", "secret");
  write_file (root, "b", "secret");
  CHECK_OK (mask_path (&host_mask, root, "/a", &err));
  CHECK_OK (mask_path (&host_mask, root, "/b", &err));
  CHECK (strcmp (first_line ("/mnt/a"), "") == 0 && strcmp (first_line ("/mnt/b"), "") == 0);
}

static void test_mask (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, mask_kinds), 0);
  assert_int_equal (child_run (CLONE_NEWNS, mask_image_null), 0);
  assert_int_equal (child_run (CLONE_NEWNS, mask_host_null), 0);
  assert_int_equal (mask_null_open (&host_mask.null_tree, &err), 0);
  assert_int_equal (child_run (CLONE_NEWNS, mask_other_namespace_body), 0);
  mask_close (&host_mask);
}

static void readonly_body (void)
{
  int root = make_root (), inner = -1;
  CHECK (mkdirat (root, "d", 0755) == 0 && mkdirat (root, "d/inner", 0755) == 0);
  write_file (root, "f", "x");
  CHECK_OK (mount_set (
      root, false, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOATIME, 0,
      0, "/mnt", &err));
  CHECK_OK (mount_new_fs ("tmpfs", NULL, NULL, 0, 0, &inner, &err));
  int target = path_open_in_root (root, "/d/inner", O_PATH, &err);
  CHECK_OK (mount_attach (inner, target, "/d/inner", &err));
  write_file (inner, "seen", "");

  CHECK_OK (readonly_path (root, "/d", &err));
  CHECK_OK (readonly_path (root, "/f", &err));
  CHECK_OK (readonly_path (root, "/none", &err));
  const unsigned long kept = ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME;
  CHECK ((flags_of (root, "/d") & (kept | ST_RDONLY)) == (kept | ST_RDONLY));
  CHECK ((flags_of (root, "/f") & (kept | ST_RDONLY)) == (kept | ST_RDONLY));
  CHECK ((flags_of (root, "/") & (kept | ST_RDONLY)) == kept);
  CHECK (mkdir ("/mnt/d/x", 0755) < 0 && errno == EROFS);
  CHECK (mkdir ("/mnt/d/inner/x", 0755) < 0 && errno == EROFS); /* what lies below as well */
  CHECK (access ("/mnt/d/inner/seen", F_OK) == 0);
  CHECK (open ("/mnt/f", O_WRONLY) < 0 && errno == EROFS);
  CHECK (mkdir ("/mnt/x", 0755) == 0);
}

static void test_readonly (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, readonly_body), 0);
}

/* ---- devices */

static int proc_fd (void)
{
  int proc = -1;
  CHECK_OK (procfs_open (&proc, &err));
  return proc;
}

static void device_exact (void)
{
  int root = make_root (), proc = proc_fd ();
  umask (077);
  const struct device_node fuse = { "/dev/deep/fuse", 'c', 10, 229, 0666, 1000, 1001 };
  const struct device_node pipe_node = { "/run/p", 'p', 0, 0, 0621, 0, 0 };
  const struct device_node loop = { "/dev/loop", 'b', 7, 0, 0600, 0, 6 };
  struct stat st;
  for (int i = 0; i < 2; i++) /* the second time it is there */
    {
      CHECK_OK (device_make (root, proc, &fuse, -1, &err));
      CHECK (stat ("/mnt/dev/deep/fuse", &st) == 0 && S_ISCHR (st.st_mode));
      CHECK (st.st_rdev == makedev (10, 229) && (st.st_mode & 07777) == 0666);
      CHECK (st.st_uid == 1000 && st.st_gid == 1001);
      CHECK (chmod ("/mnt/dev/deep/fuse", 0) == 0 && chown ("/mnt/dev/deep/fuse", 0, 0) == 0);
    }
  CHECK_OK (device_make (root, proc, &pipe_node, -1, &err));
  CHECK (stat ("/mnt/run/p", &st) == 0 && S_ISFIFO (st.st_mode) && (st.st_mode & 07777) == 0621);
  CHECK_OK (device_make (root, proc, &loop, -1, &err));
  CHECK (stat ("/mnt/dev/loop", &st) == 0 && S_ISBLK (st.st_mode) && st.st_gid == 6);

  struct device_node other = fuse;
  other.minor = 200;
  CHECK_FAILS (device_make (root, proc, &other, -1, &err), -EEXIST, "/dev/deep/fuse");
  other.path = "/dev/../etc/fuse";
  CHECK_FAILS (device_make (root, proc, &other, -1, &err), -EINVAL, "..");
  other.path = "relative";
  CHECK_FAILS (device_make (root, proc, &other, -1, &err), -EINVAL, "relative");
  other.path = "/dev/x";
  other.type = 'z';
  CHECK_FAILS (device_make (root, proc, &other, -1, &err), -EINVAL, "type");
}

/* CVE-2026-41579, CVE-2026-47766: "victim" stands for a directory of the host.  */
static void device_symlinked_dev (void)
{
  int root = make_root (), proc = proc_fd ();
  struct stat st;
  CHECK (mkdirat (root, "image", 0755) == 0 && mkdirat (root, "victim", 0755) == 0);
  write_file (root, "victim/ptmx", "precious");
  int image = openat (root, "image", O_PATH);
  static const char *const targets[] = { "../victim", "/mnt/victim", "inside" };
  CHECK (mkdirat (image, "inside", 0755) == 0);
  const struct device_node null = { "/dev/null", 'c', 1, 3, 0666, 0, 0 };
  for (size_t i = 0; i < 3; i++)
    {
      CHECK (symlinkat (targets[i], image, "dev") == 0);
      CHECK_FAILS (device_defaults (image, proc, NULL, &err), -ENOTDIR, "/dev");
      CHECK_FAILS (device_make (image, proc, &null, -1, &err), -ENOTDIR, "dev");
      CHECK (unlinkat (image, "dev", 0) == 0);
    }
  CHECK (fstatat (root, "victim/null", &st, 0) < 0 && fstatat (image, "inside/null", &st, 0) < 0);
  CHECK (strcmp (first_line ("/mnt/victim/ptmx"), "precious") == 0);
  CHECK_FAILS (device_defaults (image, proc, NULL, &err), -ENOENT, "/dev");

  /* A link under the node's own name.  */
  CHECK (mkdirat (image, "dev", 0755) == 0);
  CHECK (symlinkat ("../../victim/ptmx", image, "dev/null") == 0);
  CHECK (chmod ("/mnt/victim/ptmx", 0600) == 0);
  CHECK_FAILS (device_make (image, proc, &null, -1, &err), -EEXIST, "/dev/null");
  CHECK (fstatat (root, "victim/ptmx", &st, 0) == 0 && (st.st_mode & 0777) == 0600);

  /* The same device, but elsewhere: not ours to change.  */
  CHECK (unlinkat (image, "dev/null", 0) == 0);
  CHECK (mknodat (root, "victim/node", S_IFCHR | 0600, makedev (1, 3)) == 0);
  CHECK (symlinkat ("../../victim/node", image, "dev/null") == 0);
  CHECK_FAILS (device_make (image, proc, &null, -1, &err), -EEXIST, "/dev/null");
  CHECK (fstatat (root, "victim/node", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
}

static void device_default_set (void)
{
  int root = make_root (), proc = proc_fd ();
  char target[64] = { 0 };
  struct stat st;
  CHECK (mkdirat (root, "dev", 0755) == 0);
  umask (077);
  CHECK_OK (device_defaults (root, proc, NULL, &err));
  CHECK_OK (device_defaults (root, proc, NULL, &err)); /* again: all is there and kept */
  CHECK (stat ("/mnt/dev/full", &st) == 0 && st.st_rdev == makedev (1, 7)
         && (st.st_mode & 07777) == 0666);
  CHECK (readlink ("/mnt/dev/stderr", target, sizeof (target) - 1) == 15);
  CHECK (strcmp (target, "/proc/self/fd/2") == 0);
  CHECK (unlinkat (root, "dev/fd", 0) == 0 && symlinkat ("/etc", root, "dev/fd") == 0);
  CHECK_FAILS (device_defaults (root, proc, NULL, &err), -EEXIST, "/dev/fd");
}

/* mknod is refused without CAP_MKNOD as in a user namespace.  */
static void device_bound (void)
{
  int root = make_root (), proc = proc_fd (), tree = -1;
  const struct device_node *null = &device_default_nodes[0];
  const struct device_node wrong = { "/dev/zero", 'c', 1, 3, 0666, 0, 0 };
  CHECK_OK (device_host_open (null, &tree, &err));
  int untouched = -7;
  CHECK_FAILS (device_host_open (&wrong, &untouched, &err), -ENXIO, "/dev/zero");
  CHECK (mkdirat (root, "dev", 0755) == 0);

  struct
  {
    uint32_t version;
    int pid;
  } header = { 0x20080522, 0 };
  uint32_t data[6];
  CHECK (syscall (SYS_capget, &header, data) == 0);
  data[0] &= ~(1u << 27); /* CAP_MKNOD from the effective set */
  CHECK (syscall (SYS_capset, &header, data) == 0);

  CHECK_FAILS (device_make (root, proc, null, -1, &err), -EPERM, "/dev/null");
  CHECK_OK (device_make (root, proc, null, tree, &err));
  struct stat st;
  CHECK (stat ("/mnt/dev/null", &st) == 0 && st.st_rdev == makedev (1, 3));
  CHECK_FAILS (device_make (root, proc, &device_default_nodes[1], tree, &err), -ENXIO, "/dev/zero");
}

static void test_device (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, device_exact), 0);
  assert_int_equal (child_run (CLONE_NEWNS, device_symlinked_dev), 0);
  assert_int_equal (child_run (CLONE_NEWNS, device_default_set), 0);
  assert_int_equal (child_run (CLONE_NEWNS, device_bound), 0);
}

/* ---- copy-up */

static int make_source (int root)
{
  CHECK (mkdirat (root, "s", 0751) == 0 && mkdirat (root, "s/a", 0700) == 0);
  CHECK (mkdirat (root, "s/a/b", 01777) == 0 && fchmodat (root, "s/a/b", 01777, 0) == 0);
  write_file (root, "s/a/b/f", "data");
  CHECK (fchownat (root, "s/a/b/f", 12, 34, 0) == 0 && fchmodat (root, "s/a/b/f", 04711, 0) == 0);
  CHECK (symlinkat ("/etc/shadow", root, "s/link") == 0);
  CHECK (symlinkat ("/etc", root, "s/dirlink") == 0);
  CHECK (mknodat (root, "s/pipe", S_IFIFO | 0640, 0) == 0);
  CHECK (setxattr ("/mnt/s/a/b/f", "trusted.note", "v", 1, 0) == 0);
  const struct timespec times[2] = { { 1000, 0 }, { 2000, 5 } };
  CHECK (utimensat (root, "s/a/b", times, 0) == 0);
  return openat (root, "s", O_RDONLY | O_DIRECTORY);
}

static void copy_up_tree (void)
{
  int root = make_root ();
  int source = make_source (root);
  CHECK (mkdirat (root, "t", 0700) == 0);
  int target = openat (root, "t", O_RDONLY | O_DIRECTORY);
  CHECK_OK (mount_copy_up (source, target, &err));

  struct stat st;
  char text[64] = { 0 };
  CHECK (fstat (target, &st) == 0 && (st.st_mode & 07777) == 0751);
  CHECK (stat ("/mnt/t/a/b", &st) == 0 && (st.st_mode & 07777) == 01777);
  CHECK (st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 5);
  CHECK (stat ("/mnt/t/a/b/f", &st) == 0 && (st.st_mode & 07777) == 04711);
  CHECK (st.st_uid == 12 && st.st_gid == 34 && st.st_size == 4);
  CHECK (strcmp (first_line ("/mnt/t/a/b/f"), "data") == 0);
  CHECK (getxattr ("/mnt/t/a/b/f", "trusted.note", text, 8) == 1 && text[0] == 'v');
  CHECK (readlink ("/mnt/t/link", text, sizeof (text)) == 11);
  CHECK (strncmp (text, "/etc/shadow", 11) == 0);
  CHECK (lstat ("/mnt/t/dirlink", &st) == 0 && S_ISLNK (st.st_mode));
  CHECK (stat ("/mnt/t/pipe", &st) == 0 && S_ISFIFO (st.st_mode) && (st.st_mode & 07777) == 0640);
}

static void copy_up_bounds (void)
{
  int root = make_root ();
  CHECK (mkdirat (root, "s", 0755) == 0 && mkdirat (root, "t", 0755) == 0);
  int source = openat (root, "s", O_RDONLY), target = openat (root, "t", O_RDONLY);
  int dir = dup (source);
  for (int i = 0; i < 70; i++)
    {
      CHECK (mkdirat (dir, "d", 0755) == 0);
      dir = openat (dir, "d", O_RDONLY);
    }
  CHECK_FAILS (mount_copy_up (source, target, &err), -ELOOP, "deep");

  /* What is mounted in the source is not the image's.  */
  CHECK (mkdirat (root, "s2", 0755) == 0 && mkdirat (root, "s2/m", 0755) == 0);
  CHECK (mount ("/etc", "/mnt/s2/m", NULL, MS_BIND, NULL) == 0);
  source = openat (root, "s2", O_RDONLY);
  CHECK_FAILS (mount_copy_up (source, target, &err), -EXDEV, "mounted");
}

static void test_copy_up (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, copy_up_tree), 0);
  assert_int_equal (child_run (CLONE_NEWNS, copy_up_bounds), 0);
}

int main (void)
{
  if (skip_all_without_root ())
    return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_procfs_names_caller),
    cmocka_unit_test (test_procfs_hostile),
    cmocka_unit_test (test_procfs_no_xdev),
    cmocka_unit_test (test_mounts),
    cmocka_unit_test (test_rootfs_pivot),
    cmocka_unit_test (test_mask),
    cmocka_unit_test (test_readonly),
    cmocka_unit_test (test_device),
    cmocka_unit_test (test_copy_up),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
