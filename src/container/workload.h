/* SPDX-License-Identifier: Apache-2.0 */
/* The process that the container is for: what init becomes in the end, and what exec puts beside
   it. Everything here runs inside, after the container's namespaces and root were taken.  */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "linux/seccomp.h"
#include "linux/terminal.h"
#include "plan/plan.h"

struct workload
{
  const struct plan_process *process;
  const struct seccomp_program *seccomp; /* len 0: none */
  int seccomp_agent;                     /* connected, or -1: who answers for the filter */
  char *agent_message;                   /* what the agent is told */
  unsigned preserve_fds;                 /* 3 ... 3 + N - 1 stay open */
  unsigned listen_fds;                   /* of these, handed on as LISTEN_FDS */
  bool notify;                           /* NOTIFY_SOCKET is for it */
  int procfd;                            /* a procfs of the container's pid namespace */
  int rootfd;                            /* the root of the container */
  char *executable;                      /* what will be executed, once it was found */
  char **env;                            /* what execve gets, once it was made; NULL-terminated */
};

/* Nothing of the caller reaches the workload: its signal dispositions and mask, its umask, its
   session, its priorities.  */
int workload_leave_caller (int procfd, struct error *err);

/* Closes all descriptors but 0 to 2 + PRESERVE and the N in KEEP (-1 is skipped); KEEP is sorted on
   the way.  */
int workload_close_descriptors (unsigned preserve, int *keep, size_t n, struct error *err);

/* In the parent: takes close-on-exec from the COUNT descriptors from 3 up.  One that isn't open is
   an error, or a descriptor of our own would be passed in its place.  */
int workload_preserve_descriptors (unsigned count, struct error *err);

/* In the parent: the program of a plan, NULL for none.  */
int workload_make_seccomp (const struct plan_seccomp *, struct seccomp_program *ret,
                           struct error *err);

/* The plan's environment, HOME from the image's passwd file if it has none, and LISTEN_FDS.  */
int workload_make_environment (struct workload *, struct error *err);

/* A new pair from the container's own devpts, in the plan's size and the workload's hands.  */
int workload_make_terminal (const struct workload *, struct terminal *ret, struct error *err);

/* Looks the program up with the workload's rights.  The messages are those of which engines make
   exit codes 126 and 127 (-EACCES, -ENOENT).  */
int workload_find_executable (struct workload *, struct error *err);

/* For a program of the image that runs before the workload and beside it: the workload's bounding
   set as capabilities, its no_new_privs and its filter, but no agent: what
   that is asked for is ENOSYS; the user stays.  */
int workload_confine (const struct workload *, struct error *err);

/* Everything from here to execve; returns only on failure.  */
int workload_become (struct workload *, struct error *err);
