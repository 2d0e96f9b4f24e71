/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "ocispec.h"

/* Whether linux.resources wants anything that only a control group can do.  Zeros, which engines
   send by habit and which mean "as it is", want nothing; nor do device rules, for where no group
   can be had no device node can be made either.  RESOURCES may be NULL.  */
bool resources_ask_for_limits (const struct oci_resources *resources);
