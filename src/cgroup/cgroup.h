/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups of one container: a directory in every mounted hierarchy (v1, hybrid) or one
   (v2), held by descriptor.  Runs in the parent, as an owner of the hierarchies.  cgroups(7),
   config-linux.md "Control groups".  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "ocispec.h"

struct cgroup; /* the set of directories */

enum cgroup_mode
{
  CGROUP_V1,     /* v1 only */
  CGROUP_HYBRID, /* v1 controllers and a cgroup2 mount without controllers */
  CGROUP_V2
};

struct cgroup_dir
{
  /* As in /proc/self/cgroup: "cpu,cpuacct", "name=systemd", "" for cgroup2.  */
  const char *controllers;
  const char *path; /* absolute path of the group */
  int fd;           /* of the directory */
  unsigned made;    /* how many components of PATH, from the end, this process made */
};

/* Makes (mkdirat by descriptor, every missing parent) the group PATH ("/docker/ID", no "..") in
   each mounted hierarchy, below the group that a plain path is relative to: the hierarchy's root.
   With nothing asked for in a hierarchy that can't be written the hierarchy is left out only if it
   is not one that the resources need.  A failure removes what was made.  An existing group with
   processes in it is refused (-EEXIST), a frozen one as well (-EBUSY: init would never run).

   NEEDED (may be NULL) is planned first: what this host can't apply fails before anything is made.
   On a v2 host all controllers are enabled on the way down, on a hybrid one only those needed.  */
int cgroup_create (const char *path, const struct oci_resources *needed, struct cgroup **ret,
                   struct error *err);

/* Whether cgroup_create could make the group PATH in any hierarchy: what an ordinary user can do
   only below a group that was delegated to him.  Makes nothing.  */
bool cgroup_can_make (const char *path);

/* Opens the groups of a container again from its record (paths are absolute; a vanished one is left
   out, anything that isn't a cgroup directory is -EINVAL).  */
int cgroup_open (const char *const *controllers, const char *const *paths, size_t n,
                 struct cgroup **ret, struct error *err);
/* What the record says of the group at PATH: its create made MADE components, from the end.  Then
   cgroup_remove takes empty parents away as well.  */
void cgroup_note_made (struct cgroup *, const char *path, unsigned made);
void cgroup_close (struct cgroup *); /* closes descriptors, removes nothing */

enum cgroup_mode cgroup_mode (const struct cgroup *);
size_t cgroup_dirs (const struct cgroup *, const struct cgroup_dir **ret);

/* Puts PID into every group.  (v2: also usable with CLONE_INTO_CGROUP through cgroup_v2_fd.)  */
int cgroup_attach (const struct cgroup *, pid_t pid, struct error *err);
/* The same for one that was cloned into cgroup_v2_fd already.  */
int cgroup_attach_v1 (const struct cgroup *, pid_t pid, struct error *err);

/* In place of cgroup_attach_v1 for a process that is made: it enters the v1 groups by itself.  For
   one that is named the kernel first waits until all others have seen that it moves, 5 to 12 ms
   where nothing moved lately; the caller of a write that has one thread is moved at once.  The
   parent opens the doors before it clones and closes its own ones behind; the rights are those of
   who opened them (before Linux 5.16 of who writes).  */
int cgroup_open_doors (struct cgroup *, struct error *err);
void cgroup_close_doors (struct cgroup *);
int cgroup_enter_v1 (struct cgroup *, struct error *err); /* closes them behind itself */
int cgroup_v2_fd (const struct cgroup *);                 /* or -1 */

/* Writes the limits (memory, cpu, pids, blockIO, cpuset, hugepages, network, rdma, unified as far
   as the host's version has them; what can't be applied is an error that names the field and the
   file).  Zero or absent members that mean "leave as it is" are skipped (REPORT.md: cpu.shares 0,
   blockIO.weight 0, memory.disableOOMKiller false).  Conversions of config-linux.md for v2.  */
int cgroup_apply (const struct cgroup *, const struct oci_resources *, struct error *err);

/* Installs the device filter: RULES in order, the first a deny-all.  v1: devices.deny and
   devices.allow; v2: one BPF_PROG_TYPE_CGROUP_DEVICE program (replaced, not stacked, by a later
   call).  */
int cgroup_apply_devices (const struct cgroup *, const struct oci_device_cgroup *rules, size_t n,
                          struct error *err);

/* Every process in the group and below.  *RET is malloc'ed.  */
int cgroup_pids (const struct cgroup *, pid_t **ret, size_t *ret_len, struct error *err);

/* Sends SIGNAL to all of them: cgroup.kill where it can, else freeze, signal, thaw.  A group that
   was frozen before stays so, save after SIGKILL, which always thaws; nobody there is success.
   -EBUSY when the calling process itself is in the group.  */
int cgroup_kill_all (const struct cgroup *, int signal, struct error *err);

/* Freezes by cgroup2, else by the v1 freezer, and waits until all stand still; after two seconds it
   thaws again and fails (-ETIMEDOUT).  Thawing thaws both.  */
int cgroup_freeze (const struct cgroup *, bool frozen, struct error *err);
int cgroup_is_frozen (const struct cgroup *, bool *ret, struct error *err);

/* What the groups count, as one JSON object (runc's events).  */
void cgroup_stats (const struct cgroup *, struct strbuf *out);

/* How many processes the kernel has killed in the group for want of memory; 0 if it can't be told.
 */
uint64_t cgroup_oom_kills (const struct cgroup *);
/* A descriptor that has *RET_EVENTS of poll(2) when that may have changed; of POLLIN the reader
   takes 8 bytes.  The caller closes it.  -ENOENT without a memory controller.  */
int cgroup_oom_watch (const struct cgroup *, int *ret_fd, short *ret_events, struct error *err);

/* Removes the groups with everything below, depth first; kills what is left inside; copes with
   EBUSY by waiting with back-off, at most five seconds.  A vanished group is success.  Parents that
   the same handle's cgroup_create made go too when they are empty.  The caller reaps its children:
   who isn't reaped is no obstacle.  */
int cgroup_remove (struct cgroup *, struct error *err);

/* What a mount of type cgroup shows (config-linux.md; runc's and crun's layout).  For each
   hierarchy a detached tree: without a cgroup namespace a clone of the container's own group, made
   in the host's mount namespace.  v1/hybrid: NAME is the directory below the tmpfs
   ("cpu,cpuacct", "systemd", "unified"); v2: one with NAME "".  With a cgroup namespace (PRIVATE
   true) the trees are made in init by fsopen after unshare: only names, file-system type and
   parameters come back, tree is -1.  A tree is a peer of the host's mount where that is shared:
   make it private before it is attached.  */
struct cgroup_mount
{
  char *name;
  char *fs_type;    /* cgroup or cgroup2 */
  char *parameters; /* for fsconfig: "cpu,cpuacct", "name=systemd" */
  int tree;         /* detached mount or -1; owned */
  char **links;     /* symlinks to NAME beside it: "cpu", "cpuacct"; NULL-terminated */
};
int cgroup_mounts (const struct cgroup *, bool private_namespace, struct cgroup_mount **ret,
                   size_t *ret_len, struct error *err);
void cgroup_mounts_free (struct cgroup_mount *, size_t n);

/* Removes the groups called PATH in every hierarchy as far as they are empty, and kills nothing:
   for a create that was interrupted before it could record what it made, when a group of that name
   may also be somebody else's.  0 also if there is none.  */
int cgroup_remove_empty (const char *path, struct error *err);
