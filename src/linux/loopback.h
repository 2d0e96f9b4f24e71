/* SPDX-License-Identifier: Apache-2.0 */
/* The loopback interface of a new network namespace, rtnetlink(7).  Not called netlink.h: that name
   hides the kernel's <linux/netlink.h>.  */
#pragma once

#include "base/error.h"

/* Sets interface 1 ("lo") of the caller's network namespace up; no harm if it is.  */
int loopback_up (struct error *err);
