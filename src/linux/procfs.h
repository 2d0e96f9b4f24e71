/* SPDX-License-Identifier: Apache-2.0 */
/* A procfs that is known to be one (CVE-2019-16884, CVE-2019-19921, CVE-2025-52881): everything
   that is read from or written to /proc goes through the descriptor that procfs_open returns, never
   through a path that begins with "/proc".  */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A procfs of the caller's pid namespace as a directory descriptor (close-on-exec, the caller
   closes it).  With CAP_SYS_ADMIN it is a new, detached mount that nobody else can mount upon;
   without, it is /proc after its file system type and its being the root of a mount have been
   verified.  Call again after entering another pid namespace: "self" of the old one names nobody.
   -ENOTSUP if /proc is not a procfs, else the errno of the kernel.  */
int procfs_open (int *ret_fd, struct error *err);

/* Opens PATH ("self/attr/exec", no leading slash) below PROCFD with open(2) FLAGS (O_CLOEXEC is
   added): never leaves that one mount and follows no magic link, so a mount on top of anything
   below it is -EXDEV.  */
int procfs_open_file (int procfd, const char *path, uint64_t flags, int *ret_fd, struct error *err);

/* Writes DATA with one write(2); a short write is -EIO.  The value is not part of the message.  */
int procfs_write (int procfd, const char *path, const char *data, struct error *err);

/* Reads PATH to its end, at most MAX bytes (-EFBIG).  *RET is NUL-terminated, the caller frees it.
 */
int procfs_read (int procfd, const char *path, size_t max, char **ret, size_t *ret_len,
                 struct error *err);

/* Masks of signals or capabilities as /proc/self/status has them, hexadecimal ("SigIgn", "CapBnd"):
   one look at the caller's N NAMES; -EBADMSG when one is missing.  */
int procfs_own_masks (int procfd, const char *const *names, uint64_t *ret, size_t n,
                      struct error *err);

/* Opens the object behind the caller's own descriptor FD (usually O_PATH) once more, with FLAGS. */
int procfs_reopen (int procfd, int fd, uint64_t flags, int *ret_fd, struct error *err);

/* chmod(2) of the object behind FD, which may be O_PATH.  MODE: permission bits, 07777.  WHAT names
   it in the message.  Never for a symbolic link.  */
int procfs_chmod (int procfd, int fd, mode_t mode, const char *what, struct error *err);
