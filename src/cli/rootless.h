/* SPDX-License-Identifier: Apache-2.0 */
/* What agentrun does for an ordinary user before it looks at his bundle.  */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ocispec.h"

/* An ordinary user enters namespaces of his own, in which he may mount; *RET_OWN says whether this
   process, or the one that executed it again, did.  */
int rootless_enter (bool *ret_own, struct error *err);

/* In a user namespace of agentrun's own making: the mappings of CONFIG count from the host, as the
   caller sees it; from here on they count from that namespace.  A range that is not the caller's to
   give away is -EPERM.  */
int rootless_translate (struct oci_config *, struct error *err);
