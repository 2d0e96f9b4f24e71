/* SPDX-License-Identifier: Apache-2.0 */
/* Which security modules of the host label processes.  In the parent: reads the host's sysfs, needs
   no privilege.  */
#pragma once

#include <stdbool.h>

/* Whether the kernel runs with AppArmor.  */
bool lsm_apparmor_enabled (void);
/* Whether a SELinux policy is loaded: looks for a mounted selinuxfs.  */
bool lsm_selinux_enabled (void);
