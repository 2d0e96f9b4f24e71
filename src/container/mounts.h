/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts that come and go while a container runs.  */
#pragma once

#include "container/container.h"

/* Adds the last N mounts of PLAN, which was judged with them, to the running container C, open and
   locked, and records them.  A failure halfway takes those away again that were made.  */
int container_mounts_add (struct container *c, const struct plan *plan, size_t n,
                          const struct resolved *, struct error *err);

/* Takes the mounts on DESTINATIONS away, the last one first: only those that container_mounts_add
   has made and that are still what it made (-EPERM).  */
int container_mounts_remove (struct container *c, const char *const *destinations, size_t n,
                             struct error *err);
