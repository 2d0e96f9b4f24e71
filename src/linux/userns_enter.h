/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary user who makes a container enters a user namespace of his own first, in which he is
   root, and a mount namespace that belongs to it (user_namespaces(7), newuidmap(1)).  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "linux/userns.h"

/* For a caller with effective uid 0, of whatever namespace, does nothing.  Else makes the
   namespaces and enters them: id 0 is the caller, and the ids from 1 up are his sub-ids
   (/etc/subuid, /etc/subgid) if he has any of both and the set-uid programs newuidmap and newgidmap
   are in /usr/bin; they are executed by that path, without an environment.  *RET_ENTERED tells.  To
   be called before anything else is opened; the program has to be executed again afterwards for its
   own files in procfs to belong to the new root.  */
int userns_enter (bool *ret_entered, struct error *err);

/* The lines of the caller's own FILE ("uid_map", "gid_map"); the caller frees *RET.  */
int userns_read_map (int procfd, const char *file, struct id_range **ret, size_t *ret_len,
                     struct error *err);
