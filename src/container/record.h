/* SPDX-License-Identifier: Apache-2.0 */
/* record: what later commands need to know, written at each step of create so that an interrupted
   one can be cleaned up (delete --force).  */
#pragma once

#include "arena.h"
#include "base/error.h"
#include "cgroup/cgroup.h"
#include "plan/plan.h"
#include "state/record.h"

/* A record of PLAN without environment values, status creating, no process yet.  In the arena.  */
struct record *record_new (const struct plan *plan, const char *root, struct arena *arena);

/* The directories of CGROUP.  -ENOMEM or 0.  */
int record_set_cgroup (struct record *, const struct cgroup *, struct arena *);

/* Namespaces of the process PID, by inode: what another container may later be found to join.  */
int record_set_namespaces (struct record *, int procfd, pid_t pid, struct arena *,
                           struct error *err);

/* Sends PIDFD over the socket PATH.  */
int pidfd_send (const char *path, int pidfd, struct error *err);

/* Writes the pid in decimal to PATH, in one rename, so that nobody reads half of it.  A link in
   PATH's place is replaced, not followed.  */
int pid_file_write (const char *path, pid_t pid, struct error *err);
