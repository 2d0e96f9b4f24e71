/* SPDX-License-Identifier: Apache-2.0 */
/* init: the process inside, which becomes the workload.  */
#pragma once

#include "container/setup.h"

/* The whole life of init, from the clone on.  SYNC is its end of the conversation.  */
_Noreturn void init_run (const struct container_setup *setup, int sync);
