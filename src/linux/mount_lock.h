/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts that root of a user namespace can't undo, mount_namespaces(7) "Restrictions on mount
   namespaces".  */
#pragma once

#include "base/error.h"

/* Moves the calling process, which has one thread, to a copy of its mount namespace in which every
   mount is locked: it can't be unmounted alone, nor lose read-only, nosuid, nodev or noexec.  The
   kernel does so for a copy that belongs to another user namespace than the original; here it is
   the child of the caller's, made for this and without a process.  Needs CAP_SYS_ADMIN in the
   caller's user namespace, and one process more for a moment (-EAGAIN at a pids limit).  PROCFD: of
   the caller's pid namespace.  Root and working directory become the root of the namespace;
   descriptors of the old mounts stay, and show none of the mounts below them.  */
int mounts_lock (int procfd, struct error *err);
