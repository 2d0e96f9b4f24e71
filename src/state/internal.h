/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of state/ share.  */
#pragma once

#include "state/state.h"

/* What state.json is called until it is complete.  */
#define STATE_TEMPORARY ".state.json.new"

/* -ENOENT, `container "ID" does not exist`: the sentence that engines look for.  */
int state_no_container (const char *id, struct error *err);
