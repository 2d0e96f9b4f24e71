/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces that move into a container (config-linux.md, "Network Devices").  */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* Moves the interface FROM of the caller's network namespace into that of process PID, where it is
   called TO, has the global, permanent addresses that it had, and is up.  When it fails halfway the
   interface may be there already: it goes with that namespace (a physical one comes back to the
   initial one).  PROCFD: of procfs_open.  Needs CAP_NET_ADMIN and CAP_SYS_ADMIN over both.  The
   caller is in its own namespace again afterwards.  */
int netdev_move (int procfd, pid_t pid, const char *from, const char *to, struct error *err);
