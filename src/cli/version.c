/* SPDX-License-Identifier: Apache-2.0 */
/* What --version prints: go-runc and podman read the first lines.  */
#include <stdio.h>

#include "cli/command.h"

void version_print (void)
{
  printf ("agentrun version " PACKAGE_VERSION "\nspec: 1.3.0\n+SECCOMP +YAJL"
#ifdef LIBSELINUX_PATH
          " +SELINUX"
#endif
          " +APPARMOR\n");
}
