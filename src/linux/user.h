/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of the workload: process.user of the runtime-spec.  */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Supplementary groups are replaced by exactly the N GROUPS (an empty list too), then all three
   gids, then all three uids, then UMASK; read back and compared.  An id of (uid_t) -1 is -EINVAL:
   to the kernel it means "leave".  Needs CAP_SETUID and CAP_SETGID.  PROCFD: see below.  */
int user_set (uid_t uid, gid_t gid, const gid_t *groups, size_t n, mode_t umask_value, int procfd,
              struct error *err);

/* The supplementary groups alone.  In a user namespace that denies setgroups(2) (an ordinary user's
   without sub-ids) the caller's groups stay, for the kernel offers no way, and N must be 0.  PROCFD
   (of procfs_open) tells whether it is one; -1: it is none.  */
int user_set_groups (const gid_t *groups, size_t n, int procfd, struct error *err);
