/* SPDX-License-Identifier: Apache-2.0 */
/* The container's file systems, in the order of the plan.  Runs in init, in its own mount
   namespace. Sources are the trees that were judged; destinations are looked up below the root's
   descriptor and used by descriptor: no path of the image is ever given to a system call with the
   host's root current.  */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "container/init_steps.h"
#include "linux/copy_up.h"
#include "linux/device.h"
#include "linux/mask.h"
#include "linux/mounts.h"
#include "linux/procfs.h"
#include "linux/rootfs.h"

#define MOUNT_POINT_MODE 0755

int init_mount_rootfs (struct init *init, struct error *err)
{
  const struct plan_rootfs *rootfs = init->plan->rootfs;
  int tree = setup_descriptor (init->setup, rootfs->descriptor);
  if (!init_has_namespace (init, "mount", false))
    return error_set (err, -EINVAL,
                      "a container without a mount namespace would change the host's");
  int r = rootfs_attach (tree, rootfs->propagation, err);
  if (r == 0 && rootfs->attr_set != 0)
    r = mount_set (tree, false, rootfs->attr_set, 0, 0, "/", err);
  init->rootfd = tree;
  return r;
}

/* Attributes of a bind are only ever added: "rw" or "suid" among the options must not undo what the
   host's administrator mounted read-only or nosuid.  */
static uint64_t clearable (uint64_t attributes)
{
  const uint64_t protecting =
      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  return attributes & ~protecting;
}

static int set_bind_attributes (const struct plan_mount *m, int tree, struct error *err)
{
  uint64_t propagation = m->propagation != 0 ? m->propagation : MS_PRIVATE;
  bool recursive = m->propagation == 0 || m->propagation_recursive;
  uint64_t attributes = m->attr_set & ~(uint64_t)(m->readonly_last ? MOUNT_ATTR_RDONLY : 0);
  int r = mount_set (tree, recursive, 0, 0, propagation, m->destination, err);
  if (r == 0 && (m->recursive_set != 0 || clearable (m->recursive_clear) != 0))
    r = mount_set (tree, true, m->recursive_set, clearable (m->recursive_clear), 0, m->destination,
                   err);
  if (r == 0 && (attributes != 0 || clearable (m->attr_clear) != 0))
    r = mount_set (tree, false, attributes, clearable (m->attr_clear), 0, m->destination, err);
  return r;
}

/* The policy judged the destination as it is written; where a link of the image leads elsewhere,
   nobody has judged that.  Links are followed inside the root, as everybody expects of /var/run,
   but never to a place that decides what the container is: the root itself, /proc, /sys, /dev and
   what lies in them.  */
static bool link_leads_astray (const char *destination, const char *reached)
{
  static const char *const deciding[] = { "/proc", "/sys", "/dev" };
  cleanup_free char *written = path_normalize (destination);
  if (written != NULL && strcmp (written, reached) == 0)
    return false;
  if (str_equal (reached, "/"))
    return true;
  for (size_t i = 0; i < ARRAY_SIZE (deciding); i++)
    if (path_is_within (reached, deciding[i]))
      return true;
  return false;
}

/* What is there and is reached without any link: nothing leads astray, and nobody has to ask where
   it is.  Else -ENOENT when there is nothing of that name, any other errno for the rest.  */
static int open_plain (const struct init *init, const struct plan_mount *m, enum path_kind kind)
{
  const uint64_t flags = O_PATH | (kind == PATH_DIRECTORY ? O_DIRECTORY : 0);
  struct stat st;
  cleanup_close int fd =
      path_openat2 (init->rootfd, m->destination, flags, 0,
                    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (fd >= 0 && kind == PATH_FILE && (fstat (fd, &st) < 0 || S_ISDIR (st.st_mode)))
    return -EISDIR;
  return steal_fd (&fd);
}

/* The mount point, made where it is missing; TARGET is what will be mounted upon.  */
static int open_target (struct init *init, const struct plan_mount *m, enum path_kind kind,
                        bool *ret_made, int *ret_target, struct error *err)
{
  char link[40], reached[PATH_MAX];
  cleanup_close int target = open_plain (init, m, kind);
  if (target >= 0)
    {
      *ret_made = false;
      *ret_target = steal_fd (&target);
      return 0;
    }
  int r = target == -ENOENT ? path_make_missing_in_root (init->rootfd, m->destination, kind,
                                                         MOUNT_POINT_MODE, ret_made, &target, err)
                            : path_make_in_root (init->rootfd, m->destination, kind,
                                                 MOUNT_POINT_MODE, ret_made, &target, err);
  if (r < 0)
    return r;
  snprintf (link, sizeof link, "self/fd/%d", target);
  ssize_t n = readlinkat (init->procfd, link, reached, sizeof reached - 1);
  if (n < 0)
    return error_errno (err, errno, "find out where %s is", m->destination);
  reached[n] = '\0';
  if (link_leads_astray (m->destination, reached))
    return error_set (err, -EPERM,
                      "mount.destination: a link of the image leads from %s to %s: nothing is "
                      "mounted there by another name",
                      m->destination, reached);
  *ret_target = steal_fd (&target);
  return 0;
}

/* Bound over itself; what is there has to be what the policy saw, for in a workspace that others
   write it may be something else by now.  */
static int protect_one (const struct plan_mount *m, const struct plan_protected *p, int tree,
                        struct error *err)
{
  cleanup_close int clone = -1;
  struct stat st;
  cleanup_close int target =
      path_openat2 (tree, p->path, O_PATH, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (target < 0 || fstat (target, &st) < 0)
    return error_errno (err, target < 0 ? -target : errno, "protect %s in %s", p->path,
                        m->destination);
  if (p->readonly && (st.st_dev != p->dev || st.st_ino != p->ino))
    return error_set (err, -EAGAIN,
                      "mount.protected: %s in %s was replaced while the container was made",
                      p->path, m->destination);
  int r = mount_clone (target, "", true, &clone, err);
  if (r == 0)
    r = mount_set (clone, true, p->readonly ? MOUNT_ATTR_RDONLY : 0, 0, MS_PRIVATE, p->path, err);
  return r < 0 ? r : mount_attach (clone, target, p->path, err);
}

static int protect (const struct plan_mount *m, int tree, struct error *err)
{
  int r = 0;
  for (size_t i = 0; r == 0 && i < m->protected_len; i++)
    r = protect_one (m, &m->protected[i], tree, err);
  return r;
}

static int mount_bind (struct init *init, const struct plan_mount *m, struct error *err)
{
  int tree = setup_descriptor (init->setup, m->descriptor);
  cleanup_close_later int target = -1;
  struct stat st;
  bool made;
  if (fstat (tree, &st) < 0)
    return error_errno (err, errno, "look at the source of %s", m->destination);
  int r =
      open_target (init, m, S_ISDIR (st.st_mode) ? PATH_DIRECTORY : PATH_FILE, &made, &target, err);
  if (r == 0)
    r = set_bind_attributes (m, tree, err);
  if (r == 0)
    r = mount_attach (tree, target, m->destination, err);
  if (r == 0)
    r = protect (m, tree, err);
  if (r == 0 && m->readonly_last)
    {
      int kept = fcntl (tree, F_DUPFD_CLOEXEC, 3);
      if (kept < 0)
        return error_errno (err, errno, "keep the mount on %s", m->destination);
      init->sealed[m - init->plan->mounts] = kept;
    }
  return r;
}

/* A tmpfs without mode= has the mode of the image's directory that it covers; where that was made
   just now it keeps the kernel's own default.  */
static int set_tmpfs_mode (struct init *init, const struct plan_mount *m, bool made, int target,
                           int tree, struct error *err)
{
  struct stat st;
  if (m->mode_given || made)
    return 0;
  if (fstat (target, &st) < 0)
    return error_errno (err, errno, "look at %s", m->destination);
  return procfs_chmod (init->procfd, tree, st.st_mode & 07777, m->destination, err);
}

static int copy_up (const struct plan_mount *m, int target, int tree, struct error *err)
{
  if (!m->copy_up)
    return 0;
  cleanup_close int from = openat (target, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  cleanup_close int to = openat (tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (from < 0 || to < 0)
    return error_errno (err, errno, "open %s for tmpcopyup", m->destination);
  int r = mount_copy_up (from, to, err);
  return r < 0 ? error_context (err, "tmpcopyup of %s", m->destination) : 0;
}

static bool is_at (const struct plan_mount *m, const char *path)
{
  cleanup_free char *destination = path_normalize (m->destination);
  return str_equal (destination, path);
}

/* The last mount on a place is the one that counts.  */
static void keep_in (int *place, int tree)
{
  cleanup_closep (place);
  *place = tree;
}

/* Descriptors of mounts that a later step works on.  */
static void keep_tree (struct init *init, const struct plan_mount *m, int made)
{
  cleanup_close_later int tree = made;
  if (str_equal (m->kind, "tmpfs") && (m->attr_set & MOUNT_ATTR_RDONLY) != 0)
    init->sealed[m - init->plan->mounts] = steal_fd (&tree);
  else if (str_equal (m->kind, "proc") && is_at (m, "/proc"))
    keep_in (&init->proc_tree, steal_fd (&tree));
  else if (str_equal (m->kind, "sysfs") && is_at (m, "/sys"))
    keep_in (&init->sys_tree, steal_fd (&tree));
}

/* linux.mountLabel is a parameter of those that have one (SELinux takes it for the label of all
   that is in there); proc, sysfs and cgroups are labelled by the host's policy.  Allocated.  */
static int label_data (const struct init *init, const struct plan_mount *m, char ***ret,
                       size_t *ret_len, char **ret_label, struct error *err)
{
  const char *label = init->plan->mount_label;
  bool labelled = str_equal (m->kind, "tmpfs") || str_equal (m->kind, "devpts")
                  || str_equal (m->kind, "mqueue");
  char **data = calloc (m->data_len + 1, sizeof *data);
  if (data == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  for (size_t i = 0; i < m->data_len; i++)
    data[i] = m->data[i];
  *ret_len = m->data_len;
  *ret = data;
  if (!labelled || label == NULL || label[0] == '\0')
    return 0;
  if (asprintf (ret_label, "context=%s", label) < 0)
    {
      *ret_label = NULL;
      return error_set (err, -ENOMEM, "out of memory for the mounts");
    }
  data[(*ret_len)++] = *ret_label;
  return 0;
}

/* A file system of its own.  Read-only waits until all is made: nodes, mount points and copies have
   to get in (init_seal_rootfs).  */
static int mount_new (struct init *init, const struct plan_mount *m, int target, bool made,
                      struct error *err)
{
  cleanup_close int tree = -1;
  bool is_tmpfs = str_equal (m->kind, "tmpfs");
  uint64_t attributes = m->attr_set & ~(uint64_t)(is_tmpfs ? MOUNT_ATTR_RDONLY : 0);
  cleanup_free char **data = NULL;
  cleanup_free char *label = NULL;
  size_t data_len = 0;
  int r = label_data (init, m, &data, &data_len, &label, err);
  if (r == 0)
    r = mount_new_fs (m->kind, m->source, data, data_len, attributes, &tree, err);
  if (r < 0)
    return error_context (err, "%s", m->pointer);
  /* A new mount is private until it is told otherwise.  */
  r = mount_set (tree, true, m->recursive_set, m->recursive_clear, m->propagation, m->destination,
                 err);
  if (r == 0 && m->recursive_clear != 0) /* "ro,rrw" is read-only, as policy reads it */
    r = mount_set (tree, false, attributes, 0, 0, m->destination, err);
  /* There is nothing to copy from a mount point that was made just now, and its mode was nobody's
     choice.  */
  if (r == 0 && is_tmpfs && !made)
    r = copy_up (m, target, tree, err);
  if (r == 0 && is_tmpfs)
    r = set_tmpfs_mode (init, m, made, target, tree, err);
  if (r == 0)
    r = mount_attach (tree, target, m->destination, err);
  if (r == 0)
    keep_tree (init, m, steal_fd (&tree));
  return r;
}

/* proc and sysfs go only where the image has a real directory or nothing (CVE-2019-19921,
   CVE-2023-27561, CVE-2025-54867): looked up once more without any link, and that is what is
   mounted upon, whatever the name means by then.  */
static int open_plain_target (struct init *init, const struct plan_mount *m, int *target,
                              struct error *err)
{
  int fd = path_openat2 (init->rootfd, m->destination, O_PATH | O_DIRECTORY, 0,
                         RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  if (fd < 0)
    return error_set (err, -ENOTDIR, "mount %s on %s: the image has a link or a file there (%s)",
                      m->kind, m->destination, errno_name (-fd));
  keep_in (target, fd);
  return 0;
}

static int mount_one (struct init *init, const struct plan_mount *m, struct error *err)
{
  cleanup_close_later int target = -1;
  bool made = false;
  if (str_equal (m->kind, "bind"))
    return mount_bind (init, m, err);
  const bool must_be_plain = str_equal (m->kind, "proc") || str_equal (m->kind, "sysfs");
  int r = 0;
  if (must_be_plain)
    target = open_plain (init, m, PATH_DIRECTORY);
  if (target < 0)
    {
      r = open_target (init, m, PATH_DIRECTORY, &made, &target, err);
      if (r == 0 && must_be_plain)
        r = open_plain_target (init, m, &target, err);
    }
  if (r < 0)
    return r;
  if (str_equal (m->kind, "cgroup")
      || (str_equal (m->kind, "cgroup2") && init->setup->cgroup_mode == CGROUP_V2))
    return init_mount_cgroup (init, m, target, err);
  return mount_new (init, m, target, made, err);
}

int init_mount_all (struct init *init, struct error *err)
{
  init->sealed = malloc ((init->plan->mounts_len + 1) * sizeof *init->sealed);
  if (init->sealed == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  for (size_t i = 0; i < init->plan->mounts_len; i++)
    init->sealed[i] = -1;
  int r = 0;
  fd_batch_begin ();
  for (size_t i = 0; r == 0 && i < init->plan->mounts_len; i++)
    r = mount_one (init, &init->plan->mounts[i], err);
  fd_batch_end ();
  return r;
}

int init_mount_later (struct init *init, size_t index, struct error *err)
{
  const struct plan_mount *m = &init->plan->mounts[index];
  if (!str_equal (m->kind, "bind") && !str_equal (m->kind, "tmpfs"))
    return error_set (err, -ENOTSUP, "mount %s on %s: only binds and tmpfs can be added later",
                      m->kind, m->destination);
  cleanup_free int *sealed = malloc ((init->plan->mounts_len + 1) * sizeof *sealed);
  if (sealed == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  sealed[index] = -1;
  init->sealed = sealed;
  int r = mount_one (init, m, err);
  if (r == 0 && sealed[index] >= 0)
    r = mount_set (sealed[index], false, MOUNT_ATTR_RDONLY, 0, 0, m->destination, err);
  cleanup_closep (&sealed[index]);
  init->sealed = NULL;
  return r;
}

int init_mount_notify (struct init *init, struct error *err)
{
  cleanup_close int target = -1;
  bool made;
  if (init->setup->notify.tree < 0)
    return 0;
  int r = path_make_in_root (init->rootfd, NOTIFY_DIRECTORY, PATH_DIRECTORY, MOUNT_POINT_MODE,
                             &made, &target, err);
  return r < 0 ? r : mount_attach (init->setup->notify.tree, target, NOTIFY_DIRECTORY, err);
}

/* Nothing is made in a /dev that is bound from outside: the nodes would be made there.  */
static bool dev_is_bound (const struct plan *plan)
{
  for (size_t i = plan->mounts_len; i > 0; i--)
    if (is_at (&plan->mounts[i - 1], "/dev"))
      return str_equal (plan->mounts[i - 1].kind, "bind");
  return false;
}

/* The node of the host to bind where mknod(2) is refused, or -1.  */
static int host_tree (const struct init *init, size_t device)
{
  return init->setup->device_trees != NULL ? init->setup->device_trees[device] : -1;
}

static bool is_default_device (const struct plan_device *d, size_t *ret)
{
  for (size_t i = 0; i < device_default_nodes_len; i++)
    if (str_equal (device_default_nodes[i].path, d->path))
      {
        *ret = i;
        return true;
      }
  return false;
}

/* What device_defaults has made already.  */
static bool is_made (const struct init *init, size_t i)
{
  const struct plan_device *d = &init->plan->devices[i];
  size_t n;
  if (!is_default_device (d, &n))
    return false;
  const struct device_node *node = &device_default_nodes[n];
  return host_tree (init, i) >= 0
         || (d->type[0] == node->type && d->major == node->major && d->minor == node->minor
             && d->mode == node->mode && d->uid == node->uid && d->gid == node->gid);
}

static int make_device (struct init *init, size_t i, struct error *err)
{
  const struct plan_device *d = &init->plan->devices[i];
  const struct device_node node = {
    d->path, d->type[0], d->major, d->minor, d->mode, d->uid, d->gid
  };
  return device_make (init->rootfd, init->procfd, &node, host_tree (init, i), err);
}

/* A default node that was bound keeps the host's mode and owner.  */
int init_make_devices (struct init *init, struct error *err)
{
  const struct plan *plan = init->plan;
  cleanup_free int *trees = malloc (device_default_nodes_len * sizeof *trees);
  size_t n;
  if (dev_is_bound (plan))
    return 0;
  if (trees == NULL)
    return error_set (err, -ENOMEM, "out of memory for the devices");
  for (size_t i = 0; i < device_default_nodes_len; i++)
    trees[i] = -1;
  for (size_t i = 0; i < plan->devices_len; i++)
    if (is_default_device (&plan->devices[i], &n))
      trees[n] = host_tree (init, i);
  int r = device_defaults (init->rootfd, init->procfd, trees, err);
  for (size_t i = 0; r == 0 && i < plan->devices_len; i++)
    if (!is_made (init, i))
      r = make_device (init, i, err);
  return r;
}

/* Users of `docker -w` rely on a missing directory being made; before the root turns read-only.  A
   cwd that resolves to something else than a directory inside the root fails here or at the last
   step.  */
int init_make_cwd (struct init *init, struct error *err)
{
  cleanup_close int fd = -1;
  bool made;
  if (str_equal (init->plan->process->cwd, "/"))
    return 0;
  int r = path_make_in_root (init->rootfd, init->plan->process->cwd, PATH_DIRECTORY,
                             MOUNT_POINT_MODE, &made, &fd, err);
  /* A file system that refuses (EROFS, EACCES) is left to chdir: the directory may be there.  */
  return r == -EROFS || r == -EACCES || r == -EPERM ? 0 : r;
}

/* The descriptor below which PATH is looked up, and the rest of it.  A procfs that somebody moved
   away in the image must not leave its masks behind.  */
static int base_of (const struct init *init, const char *path, const char **rest)
{
  const struct
  {
    const char *dir;
    int tree;
  } bases[] = { { "/proc/", init->proc_tree }, { "/sys/", init->sys_tree } };
  for (size_t i = 0; i < ARRAY_SIZE (bases); i++)
    if (bases[i].tree >= 0 && str_has_prefix (path, bases[i].dir))
      {
        *rest = path + strlen (bases[i].dir) - 1;
        return bases[i].tree;
      }
  *rest = path;
  return init->rootfd;
}

/* What is at NAME in the root must be what was mounted there.  */
static int check_in_place (const struct init *init, const char *name, int tree, struct error *err)
{
  uint64_t mounted, found;
  if (tree < 0)
    return 0;
  cleanup_close int fd = path_openat2 (init->rootfd, name, O_PATH | O_DIRECTORY, 0,
                                       RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  if (fd < 0 || mount_id (fd, &found, err) < 0 || mount_id (tree, &mounted, err) < 0
      || found != mounted)
    return error_set (err, -EBUSY, "/%s was moved away while the container was made", name);
  return 0;
}

static int cover_paths (struct init *init, struct error *err)
{
  const struct plan *plan = init->plan;
  struct mask mask = init->setup->mask;
  const char *rest;
  int r = 0;
  for (size_t i = 0; r == 0 && i < plan->readonly_paths_len; i++)
    {
      int base = base_of (init, plan->readonly_paths[i], &rest);
      r = readonly_path (base, rest, err);
    }
  for (size_t i = 0; r == 0 && i < plan->masked_paths_len; i++)
    {
      int base = base_of (init, plan->masked_paths[i], &rest);
      r = mask_path (&mask, base, rest, err);
    }
  return r;
}

int init_mask (struct init *init, struct error *err)
{
  fd_batch_begin ();
  int r = cover_paths (init, err);
  fd_batch_end ();
  if (r == 0)
    r = check_in_place (init, "proc", init->proc_tree, err);
  return r < 0 ? r : check_in_place (init, "sys", init->sys_tree, err);
}

/* What could not be read-only while things were made in it.  */
int init_seal_rootfs (struct init *init, struct error *err)
{
  const struct plan_rootfs *rootfs = init->plan->rootfs;
  int r = 0;
  for (size_t i = 0; r == 0 && i < init->plan->mounts_len; i++)
    if (init->sealed[i] >= 0)
      r = mount_set (init->sealed[i], false, MOUNT_ATTR_RDONLY, 0, 0,
                     init->plan->mounts[i].destination, err);
  return r < 0 ? r
               : rootfs_set (init->rootfd, rootfs->readonly, rootfs->attr_set, rootfs->propagation,
                             err);
}
