/* SPDX-License-Identifier: Apache-2.0 */
/* What parent and init of one create share.  The parent fills it before it clones; init reads its
   own copy and inherits the descriptors.  Nothing in here points at the configuration: the plan is
   all that there is.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "container/notify.h"
#include "linux/mask.h"
#include "linux/seccomp.h"
#include "plan/plan.h"

struct container_setup
{
  const struct plan *plan;
  const int *descriptors; /* what the plan's `descriptor` members index */
  size_t descriptors_len;
  struct seccomp_program seccomp;     /* len 0: none */
  struct cgroup_mount *cgroup_mounts; /* for mounts of kind cgroup */
  size_t cgroup_mounts_len;
  enum cgroup_mode cgroup_mode;
  struct mask mask;
  int *device_trees; /* the host's nodes of the plan's devices, where mknod(2) is not ours to use;
                        NULL or one a device, -1 for none */
  struct cgroup *cgroup; /* which init enters, borrowed */
  int procfd;            /* the parent's, borrowed */
  int console_socket;    /* connected, or -1 */
  int seccomp_agent;     /* connected, or -1 */
  int start_listener; /* listening socket that `start` connects to; -1: the parent itself goes on */
  struct notify notify;  /* of the caller's NOTIFY_SOCKET */
  unsigned preserve_fds; /* 3 ... 3 + N - 1 go to the workload */
  unsigned listen_fds;   /* of these, handed on as LISTEN_FDS */
  bool new_keyring;
  bool lock_mounts; /* the container's root is not the host's: step_lock_mounts */
  pid_t parent;     /* as init sees it: 0 from a pid namespace of its own */
};

/* The descriptor that a plan's index means, or -1.  */
static inline int setup_descriptor (const struct container_setup *setup, int index)
{
  return index >= 0 && (size_t)index < setup->descriptors_len ? setup->descriptors[index] : -1;
}

/* Which joined namespaces the parent enters before it clones, for init to be in: the pid namespace
   always, which is for children only; and, with a user namespace, all of them: they belong to the
   host's or to some other one, over which init has no rights any more.  */
static inline bool setup_parent_joins (const struct plan *plan, const struct plan_namespace *ns)
{
  return ns->path != NULL && (plan->user_namespace != NULL || str_equal (ns->type, "pid"));
}
