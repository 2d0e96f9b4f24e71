/* SPDX-License-Identifier: Apache-2.0 */
/* Session keyring, keyctl(2).  */
#pragma once

#include "base/error.h"

/* Joins a new session keyring, so that the workload does not hold the keys of who started it. NAME:
   NULL for an anonymous one.  A kernel without keyrings is 0: there is nothing to hold.  */
int keyring_new_session (const char *name, struct error *err);
