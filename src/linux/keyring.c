/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the session keyring.  Runs in init; no privilege.  */

#include "linux/keyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int keyring_new_session (const char *name, struct error *err)
{
  if (syscall (SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name) >= 0 || errno == ENOSYS)
    return 0;
  return error_errno (err, errno, "join a new session keyring");
}
