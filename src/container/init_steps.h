/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of init share.  Private to init*.c.  */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "container/setup.h"
#include "container/workload.h"
#include "linux/terminal.h"

struct init
{
  const struct container_setup *setup;
  const struct plan *plan;
  int sync;
  int procfd;    /* a procfs of the container's pid namespace, detached */
  int rootfd;    /* the root of the container */
  int proc_tree; /* what was mounted on /proc and /sys: masks and read-only paths are looked up */
  int sys_tree;  /* below these, not by a name that somebody may have moved; -1: none */
  int *sealed;   /* a tmpfs that turns read-only last, by its index among the mounts; else -1 */
  char *state_json; /* from the parent: what hooks get */
  struct workload workload;
  struct terminal terminal;
};

/* init_mounts.c: the root file system with everything that lies in it, before the pivot.  */
int init_mount_rootfs (struct init *, struct error *);
int init_mount_all (struct init *, struct error *);
/* One mount of the plan in a container that runs: a bind or a tmpfs.  */
int init_mount_later (struct init *, size_t index, struct error *);
int init_mount_notify (struct init *, struct error *);
int init_make_devices (struct init *, struct error *);
int init_make_cwd (struct init *, struct error *);
/* after the pivot */
int init_mask (struct init *, struct error *);
int init_seal_rootfs (struct init *, struct error *);

/* init_cgroup_mounts.c */
struct plan_mount;
int init_mount_cgroup (struct init *, const struct plan_mount *, int target_fd, struct error *);

/* Whether the plan has a namespace of TYPE; NEW: one that is made, not joined.  */
bool init_has_namespace (const struct init *, const char *type, bool new_one);
