/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel parameters, linux.sysctl of the runtime-spec.  Not called sysctl.h: that name hides the
   kernel's <linux/sysctl.h>.  Which parameters belong to a namespace is judged by spec/ and
   policy/.  */
#pragma once

#include "base/error.h"

/* Writes VALUE to NAME of the caller's namespaces, below PROCFD (of procfs_open, in init).  NAME
   has dots or slashes; the first one found decides which is the separator, the other one then is a
   dot in a component, as for sysctl(8).  Empty components, "." and ".." and a line end in name or
   value: -EINVAL.  */
int sysctl_set (int procfd, const char *name, const char *value, struct error *err);

/* The path below /proc/sys ("net/ipv4/ip_forward") of NAME.  Allocated; NULL if malformed.  */
char *sysctl_path (const char *name);
