/* SPDX-License-Identifier: Apache-2.0 */
/* User namespaces (user_namespaces(7)): maps of ids and who writes them.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* One line of /proc/PID/uid_map or gid_map: COUNT ids from INSIDE up are those from OUTSIDE up.  */
struct id_range
{
  uint32_t inside;
  uint32_t outside;
  uint32_t count;
};

/* The kernel's own limit of lines, user_namespaces(7).  */
#define USERNS_RANGES_MAX 340

/* The text that a map file takes; the caller frees it.  -EINVAL: no range, an empty one, one that
   passes the last id, ranges that overlap on either side; -E2BIG: more than USERNS_RANGES_MAX or
   more bytes than the kernel reads from one write, which it would refuse, or worse, that a buffer
   would cut (CVE-2021-43784).  WHAT names the map in the message ("uidMappings").  */
int userns_map_text (const struct id_range *ranges, size_t n, const char *what, char **ret,
                     struct error *err);

struct userns_maps
{
  const struct id_range *uids;
  size_t uids_len;
  const struct id_range *gids;
  size_t gids_len;
};

/* In a process with CAP_SETUID and CAP_SETGID over the parent namespace: writes the maps of PID,
   which has just been made with CLONE_NEWUSER and is a child that nobody has waited for.  PROCFD: a
   procfs in which PID is a number of its.  setgroups(2) stays allowed inside.  */
int userns_write_maps (int procfd, pid_t pid, const struct userns_maps *maps, struct error *err);

/* In the process that is in the new namespace, once its maps are written: becomes UID and GID of it
   without supplementary groups (where they can be dropped), keeping all capabilities, and
   undumpable.  */
int userns_become (uid_t uid, gid_t gid, int procfd, struct error *err);

/* For an ordinary user whose container is process PID: enters the user namespace of that process,
   or with PARENT the one above it, which he owns and in which he has all rights, and becomes root
   of it. The process must have one thread.  */
int userns_join_owned (int procfd, pid_t pid, bool parent, struct error *err);

/* Whether the calling process is in the initial user namespace.  When that can't be told, it is
   taken for another one, in which nothing is possible that would not be otherwise.  */
bool userns_is_initial (void);

/* setgroups(2) is forbidden in the caller's namespace for good ("deny"): its supplementary groups
   can be neither dropped nor changed.  PROCFD: of procfs_open.  */
bool userns_denies_setgroups (int procfd);
