/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes below the container's root.  In init, before the pivot or after it, with CAP_MKNOD.
   The caller skips all of this if /dev is a bind mount: the nodes would be made on the host.  */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* linux.devices[] of the runtime-spec.  */
struct device_node
{
  const char *path; /* absolute, inside the container */
  char type;        /* 'c' (also 'u'), 'b' or 'p' */
  unsigned major;   /* 0 for 'p' */
  unsigned minor;
  mode_t mode; /* permission bits only */
  uid_t uid;
  gid_t gid;
};

/* Makes one node with exactly that mode and owner, and the directories above it.  If something has
   that name: the same type and numbers is kept and gets mode and owner, anything else is -EEXIST.
   Where mknod(2) is refused with EPERM (user namespace, device cgroup) HOST_TREE, a detached tree
   of the host's node, is attached on an empty file in its place, provided that its type and numbers
   are the ones asked for; -1: there is none.  PROCFD: of procfs_open.  */
int device_make (int rootfd, int procfd, const struct device_node *node, int host_tree,
                 struct error *err);

/* null, zero, full, random, urandom, tty: the nodes of "Default Devices" of the runtime-spec.  */
extern const struct device_node device_default_nodes[];
extern const size_t device_default_nodes_len;

/* In the parent, on the host: a detached tree of the node of the same path and numbers, for
   HOST_TREE of device_make.  -ENXIO if the host's is another device.  */
int device_host_open (const struct device_node *node, int *ret_tree, struct error *err);

/* The default nodes and the links /dev/fd, stdin, stdout, stderr and ptmx.  HOST_TREES: NULL or one
   a default node.  /dev that is a link, not a directory or missing: -ENOTDIR, -ENOENT; it is never
   followed (CVE-2026-41579, CVE-2026-47766).  A link that exists with another target is -EEXIST;
   ptmx may also be the character device 5:2.  */
int device_defaults (int rootfd, int procfd, const int *host_trees, struct error *err);

/* The directory /dev below ROOTFD as O_PATH, not a link: what device_defaults works on.  */
int device_dir_open (int rootfd, int *ret_fd, struct error *err);
