/* SPDX-License-Identifier: Apache-2.0 */
/* The mount table of the caller's mount namespace, proc_pid_mountinfo(5).  Internal to src/spec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct mount_entry
{
  uint64_t id;
  char *root;  /* field 4, unescaped */
  char *point; /* field 5, unescaped */
  char *type;  /* field 9: the kernel's name of the file system */
};

/* Zero-initialise with fd -1.  */
struct mountinfo
{
  int fd; /* -1 before the first load */
  char *text;
  struct mount_entry *entries; /* point into text */
  size_t len;
};

/* Reads the table if it has never been read or has changed since.  0 or a negative errno.  */
int mountinfo_refresh (struct mountinfo *);

/* Whether a mount came or went since the last refresh (the table is then to be refreshed).  The
   kernel counts these changes per namespace: "unchanged" holds for the whole time between.  */
bool mountinfo_changed (struct mountinfo *);

const struct mount_entry *mountinfo_find (const struct mountinfo *, uint64_t id);

void mountinfo_free (struct mountinfo *);
