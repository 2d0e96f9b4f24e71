/* SPDX-License-Identifier: Apache-2.0 */
/* A filter whose questions (SECCOMP_RET_USER_NOTIF) an agent outside answers.  */
#pragma once

#include "base/error.h"
#include "linux/seccomp.h"

/* Like seccomp_program_load, and the filter's listener goes to AGENT, a connected socket, together
   with MESSAGE.  Once the filter holds, the calling thread makes no system call: any of them may be
   one that only the agent lets go on.  So a second thread, which the filter doesn't bind, sends. It
   needs room for one more task in the limits of the user and the cgroup.  */
int seccomp_program_load_notify (const struct seccomp_program *, int agent, const char *message,
                                 struct error *err);
