/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the UTS namespace.  In init, in its own UTS namespace, with CAP_SYS_ADMIN over it.  */
#pragma once

#include "base/error.h"

/* At most 64 bytes, else -EINVAL.  */
int hostname_set (const char *name, struct error *err);
int domainname_set (const char *name, struct error *err);
