/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are looked up once and then used by descriptor.  openat2(2) does the resolving; nothing
   here follows a link out of the directory that it was given.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include "base/error.h"

/* openat2(2) with O_CLOEXEC added, retried on EAGAIN (a concurrent rename) a bounded number of
   times. Returns a descriptor or a negative errno; no message. */
int path_openat2 (int dirfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/* Opens PATH below ROOTFD as the container will see it: absolute links are resolved inside the
   root, magic links are refused.  Returns fd or negative errno with message.  */
int path_open_in_root (int rootfd, const char *path, uint64_t flags, struct error *err);

enum path_kind
{
  PATH_DIRECTORY,
  PATH_FILE
};

/* As path_open_in_root with O_PATH, and makes what is missing: directories with mode 0755, and the
   last component as an empty file (0644... umask is the caller's business) for PATH_FILE.  Every
   step is taken on a descriptor; a dangling or climbing link is resolved inside the root.  ret_made
   says whether the last component was made.  */
int path_make_in_root (int rootfd, const char *path, enum path_kind kind, mode_t dir_mode,
                       bool *ret_made, int *ret_fd, struct error *err);

/* The same for a caller who has just found that PATH isn't there: it is not looked up first.  */
int path_make_missing_in_root (int rootfd, const char *path, enum path_kind kind, mode_t dir_mode,
                               bool *ret_made, int *ret_fd, struct error *err);

/* "/proc/self/fd/N": only for a /proc that is known to be the host's own.  */
struct fd_path
{
  char path[40];
};
struct fd_path fd_path (int fd);

/* The path of an open descriptor as the kernel sees it (readlink of /proc/self/fd/N).  Allocated.
 */
int path_of_fd (int fd, char **ret, struct error *err);

/* Joins and removes ".", ".." and doubled slashes lexically: for display and comparison of
   destinations only, never for opening on the host.  Always absolute.  Allocated; NULL on ENOMEM.
 */
char *path_normalize (const char *path);

/* Reads a small regular file below DIRFD without following links.  */
int path_read_file (int dirfd, const char *path, size_t max, char **ret, size_t *ret_len,
                    struct error *err);
/* The same where DIRFD is known to be a directory of the kernel's (cgroup): fd_read_knob.  */
int path_read_knob (int dirfd, const char *name, size_t max, char **ret, struct error *err);
/* Writes DATA to an existing file (a kernel knob) in one write(2).  */
int path_write_file (int dirfd, const char *path, const char *data, struct error *err);
