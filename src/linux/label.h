/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of AppArmor and SELinux for what the calling process executes next.  */
#pragma once

#include "base/error.h"

/* LSM: "apparmor" or "selinux".  Writes the exec attribute of the caller below PROCFD (of
   procfs_open in the caller's pid namespace).  LABEL: a profile or a context; "unconfined" is
   written as any other.  -EINVAL when the kernel runs no such LSM or SELinux knows no such context,
   -ENOENT for an AppArmor profile that is not loaded.  The parent asks one of the functions above
   beforehand, to tell these apart.  */
int lsm_set_exec_label (int procfd, const char *lsm, const char *label, struct error *err);
