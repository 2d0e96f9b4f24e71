/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled seccomp programs, kept for the next container with the same profile: libseccomp takes
   longer for a list of an engine's size than everything else in a create.  */
#pragma once

#include "linux/seccomp.h"

#define SECCOMP_CACHE_PARENT "/run/agentrun"
/* No container's id begins with a dot.  */
#define SECCOMP_CACHE_DIR SECCOMP_CACHE_PARENT "/.seccomp"
/* The oldest goes when there are more; each has at most 4096 instructions of 8 bytes.  */
#define SECCOMP_CACHE_ENTRIES 64

#define SECCOMP_CACHE_KEY_SIZE 65

/* seccomp_build, by way of the cache when the caller is root.  Whatever is wrong with the cache
   only means that the program is compiled.  */
int seccomp_get (const struct seccomp_request *, struct seccomp_program *ret, struct error *err);

/* A digest of all that decides about the program: the request, this build, libseccomp, the kernel
   (whose actions and flags libseccomp asks for).  -ENOENT where this build can't be told from
   others (it was linked without a build id).  */
int seccomp_cache_key (const struct seccomp_request *, char ret[SECCOMP_CACHE_KEY_SIZE]);

/* DIR/KEY, if it is a regular file of root's that nobody else can write, by no other name, reached
   without any link, and its content is that of its own digest and of KEY; else a negative errno
   (-EPERM, -EBADMSG).  */
int seccomp_cache_load (const char *dir, const char *key, struct seccomp_program *ret);

/* Makes DIR, mode 0700, and its parent when missing; refuses one that isn't root's alone.  */
int seccomp_cache_store (const char *dir, const char *key, const struct seccomp_program *program);
