/* SPDX-License-Identifier: Apache-2.0 */
/* What the files resolve*.c share.  Internal to src/spec.  Everything runs in the parent, in the
   mount namespace of the engine, and only reads.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "arena.h"
#include "base/error.h"
#include "spec/mountinfo.h"
#include "spec/resolve.h"

struct resolver
{
  const struct questions *questions;
  struct arena *arena;
  struct resolved *out; /* takes the descriptors */
  size_t descriptors_size;
  int bundle_fd;
  struct mountinfo mounts;
  uint64_t entries_left;    /* of the budget that all walks share */
  struct timespec deadline; /* CLOCK_MONOTONIC; of all walks together */
};

/* Each fills its part of r->out->facts.  0 or -ENOMEM; what is wrong with an object is a fact.  */
int resolve_sources (struct resolver *);
int resolve_namespaces (struct resolver *);
int resolve_hooks (struct resolver *);
int resolve_descriptors (struct resolver *);
int resolve_host (struct resolver *);

/* The maps of the user namespace that is open as NAMESPACE.  A negative errno when they can't be
   read: EINVAL for the caller's own, EPERM for one over which the caller has no rights.  */
int resolver_user_namespace (struct resolver *, int namespace, struct fact_namespace *);

/* Puts FD, whose ownership it takes in any case, into the table.  The index, or -ENOMEM.  */
int resolver_keep (struct resolver *, int fd);

/* The canonical path of FD in the arena.  0 or a negative errno.  */
int resolver_path (struct resolver *, int fd, char **ret);

/* The directories above the object that is open as FD with the canonical path PATH, root first.
   Each is opened without following links, and the object that this leads to must be FD's: else
   -EAGAIN, since something was renamed or mounted over meanwhile.  *RET_PARENT (may be NULL) is the
   last one's st_dev.  */
int resolver_chain (struct resolver *, const char *path, int fd, struct fact_directory **ret,
                    size_t *ret_len, dev_t *ret_parent);

/* errno_name in the arena; NULL when memory is short.  ERRNUM is positive.  */
char *resolver_errno (struct resolver *, int errnum);

/* A failed look is a fact, not an error: puts the name of RESULT's errno into *RET_FACT and returns
   0. What is no failure is returned as it is, and so is -ENOMEM, of which no fact can be made.  */
int resolver_fact (struct resolver *, int result, char **ret_fact);

/* "directory", "file", "socket", "fifo", "block", "char" or "symlink".  */
const char *kind_of_mode (mode_t mode);

/* "overlay", "proc" or another name for f_type of statfs(2), or "0x1234" in the arena (NULL when
   memory is short).  */
const char *fs_type_name (struct arena *, unsigned long magic);

/* The facts' strings are char *, and so are literals here: nothing writes to them.  */
static inline char *fact_text (const char *literal) { return (char *)(uintptr_t)literal; }

#define SET_FACT(object, member, value)                                                            \
  do                                                                                               \
    {                                                                                              \
      (object)->has_##member = true;                                                               \
      (object)->member = (value);                                                                  \
    }                                                                                              \
  while (0)
