/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's names and their numbers.  Pure code: one table each.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ocispec.h"

/* The namespace type ("network", "ipc", "uts", "user") that keeps a value of its own of the kernel
   parameter NAME, in either spelling of sysctl(8); NULL: there is one value for the whole host.  */
const char *sysctl_namespace (const char *name);

/* "CAP_CHOWN" (exactly this spelling) -> 0 … 40; -1 if unknown.  */
int capability_number (const char *name);
const char *capability_name (int number);
int capability_last (void); /* of the table, not of the running kernel */

/* What ID of a user namespace with these maps is outside; UINT32_MAX where no range holds it, or
   its sum wraps.  user_namespaces(7).  */
uint32_t id_mapping_outside (const struct oci_id_mapping *maps, size_t len, uint32_t id);

/* "RLIMIT_NOFILE" -> RLIMIT_NOFILE; -1 if unknown.  */
int rlimit_number (const char *name);

/* "network" -> CLONE_NEWNET; 0 if unknown.  Types as in config-linux.md: pid network mount ipc uts
 * user cgroup time.  */
uint32_t namespace_flag (const char *type);
const char *namespace_type (uint32_t flag);
/* The name under /proc/PID/ns: "network" -> "net".  */
const char *namespace_proc_name (const char *type);

/* "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3" -> number; -1 else.  signal(7).  */
int signal_number (const char *name);
const char *signal_name (int number);
