/* SPDX-License-Identifier: Apache-2.0 */
/* What the parent (exec.c) and the joining process (join.c) of an exec share.  The parent fills it
   before it clones.  Private to these.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cgroup/cgroup.h"
#include "container/container.h"
#include "linux/seccomp.h"
#include "plan/plan.h"
#include "state/record.h"

struct joining
{
  const struct record *record;
  const struct plan_process *process;
  struct seccomp_program seccomp;
  int init;       /* pidfd of the container's init, whose start time is the recorded one */
  int join_flags; /* CLONE_NEW* of the container's namespaces that aren't our own, without pid */
  bool joins_pid; /* the pid namespace is another one: the parent chooses it before the clone */
  int procfd;     /* the host's */
  struct cgroup *cgroup; /* entered by the process itself; NULL in a paused container */
  pid_t parent;          /* who makes it */
  int oom_score;         /* for a process that names none: that of init */
  int console_socket;    /* connected, or -1 */
  int seccomp_agent;     /* connected, or -1 */
  unsigned preserve_fds;
};

/* join.c: the whole life of the joining process, from the clone on.  SYNC is its end.  */
_Noreturn void join_run (const struct joining *, int sync);

/* Whether the namespaces of the process "SELF" below PROCFD are those of the record: *RET_FLAGS are
   the CLONE_NEW* of those that are not.  */
int join_compare_namespaces (int procfd, const struct record *, uint64_t *ret_flags,
                             struct error *err);

/* exec_cgroup.c: the groups that the process goes into, in every hierarchy the container's or one
   below. BELOW is what --cgroup gave, or NULL: then on cgroup v2 init's own group, since its
   ancestors may take no processes.  Never NULL on success but for a container without groups.  */
int exec_cgroup_open (const struct container *, const char *below, struct cgroup **ret,
                      struct error *err);
