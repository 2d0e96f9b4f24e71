/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "container/setup.h"

/* In the parent, which has the rights over the file systems: maps the owners of those of the plan's
   bind mounts that ask for it, as long as they are detached.  */
int idmap_mounts (const struct container_setup *, int procfd, struct error *err);

/* The maps of a plan as the mechanisms take them: the generated type has the same three numbers.
   Allocated; NULL without memory.  */
struct id_range *idmap_ranges (const struct oci_id_mapping *maps, size_t n);
