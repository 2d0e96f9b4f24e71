/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lsm.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

bool lsm_apparmor_enabled (void)
{
  cleanup_close int fd = open ("/sys/module/apparmor/parameters/enabled", O_RDONLY | O_CLOEXEC);
  char answer;
  return fd >= 0 && read (fd, &answer, 1) == 1 && answer == 'Y';
}

bool lsm_selinux_enabled (void)
{
  struct statfs fs;
  return statfs ("/sys/fs/selinux", &fs) == 0 && (uint32_t)fs.f_type == SELINUX_MAGIC;
}
