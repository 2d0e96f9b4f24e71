/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-terminal of process.terminal, pts(4); made from the container's own devpts.  */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct terminal
{
  int master;    /* owned */
  int slave;     /* owned */
  char name[32]; /* "/dev/pts/0": as the container sees it */
};
#define TERMINAL_INIT                                                                              \
  {                                                                                                \
    -1, -1, ""                                                                                     \
  }
void terminal_close (struct terminal *terminal);
#define cleanup_terminal __attribute__ ((cleanup (terminal_close)))

/* In init: a new pair from PTS_DIRFD, the root of the container's devpts.  That it is a devpts, and
   that the slave is a pts of it, is checked on the descriptors.  */
int terminal_new (int pts_dirfd, struct terminal *ret, struct error *err);

/* The same slave, opened once more by its name below ROOTFD, in place of the old descriptor: after
   a change of the mount namespace.  */
int terminal_reopen (struct terminal *, int rootfd, struct error *err);

/* Characters; 0 leaves both.  */
int terminal_set_size (int fd, uint32_t height, uint32_t width, struct error *err);

/* The slave belongs to UID; its group stays that of the devpts (gid=).  */
int terminal_set_owner (int slave, uid_t uid, struct error *err);

/* A new session with SLAVE as controlling terminal and as descriptors 0, 1 and 2.  */
int terminal_take (int slave, struct error *err);

/* Attaches the slave on /dev/console below ROOTFD.  A console that is a link, or a /dev that is
   one, is an error (CVE-2025-52565, CVE-2026-88264); a missing one is made.  Afterwards it is
   verified that /dev/console is that slave.  */
int terminal_bind_console (int rootfd, int slave, struct error *err);

/* In the parent, on the host: connects to --console-socket.  */
int terminal_console_connect (const char *path, int *ret_sock, struct error *err);

/* Sends the master over SOCK (SCM_RIGHTS) with the name of the slave as message.  */
int terminal_send (int sock, const struct terminal *terminal, struct error *err);
