/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: host and domain name.  Runs in init, in its own UTS namespace, CAP_SYS_ADMIN over it.  */

#include "linux/hostname.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int hostname_set (const char *name, struct error *err)
{
  if (sethostname (name, strlen (name)) < 0)
    return error_errno (err, errno, "set host name");
  return 0;
}

int domainname_set (const char *name, struct error *err)
{
  if (setdomainname (name, strlen (name)) < 0)
    return error_errno (err, errno, "set domain name");
  return 0;
}
