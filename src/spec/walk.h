/* SPDX-License-Identifier: Apache-2.0 */
/* The walk through a directory source.  Internal to src/spec.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "arena.h"
#include "spec/facts.h"

/* An object that no grant reaches; INDEX is that of its entry in facts.host.never.  */
struct never_object
{
  uint64_t dev;
  uint64_t ino;
  uint32_t index;
};

struct walk_request
{
  int tree;                         /* the detached tree, a directory, O_PATH */
  bool recursive;                   /* it has the mounts below it */
  const struct never_object *never; /* sorted by never_object_compare */
  size_t never_len;
  const struct fact_never *never_facts; /* what INDEX means */
  uint64_t entries;                     /* budget */
  struct timespec deadline;             /* CLOCK_MONOTONIC */
};

int never_object_compare (const void *a, const void *b);

/* Looks through TREE in a child that is killed at the deadline.  RET_NESTED gets the mount points
   met, in the arena.  0 or -ENOMEM: whatever else goes wrong is RET->reason of an incomplete walk.
 */
int walk_run (const struct walk_request *, struct arena *, struct fact_walk **ret,
              struct fact_nested **ret_nested, size_t *ret_nested_len);

/* Whether a process has the socket bound that FD (O_PATH) names, in whatever network namespace: 1,
   0, or -1 when that can't be told (no right to connect).  Nothing reaches that process.  */
int socket_is_live (int fd);

/* Whether something of this name usually holds credentials.  */
bool is_credential_name (const char *name);

/* ---- between walk_run.c (the parent's half) and walk.c (the child's) ---- */

enum walk_record_type
{
  WALK_END,
  WALK_FOUND,
  WALK_NEVER,
  WALK_CREDENTIAL,
  WALK_NESTED
};

/* Reasons to stop that aren't errnos (which are positive).  */
enum
{
  WALK_COMPLETE = 0,
  WALK_ENTRIES = -1,
  WALK_SECONDS = -2,
  WALK_OBJECTS = -3 /* more found than anybody will read */
};

/* What goes through the pipe, followed by PATH_LEN bytes of path relative to the tree.  */
struct walk_record
{
  uint32_t type;
  uint32_t path_len;
  uint64_t dev;
  uint64_t ino;
  uint64_t number; /* END: entries; NESTED: statfs's f_type; NEVER: index */
  uint32_t uid;
  uint32_t mode;  /* st_mode; 0 when it wasn't looked at */
  int32_t live;   /* of a socket, as socket_is_live has it */
  int32_t reason; /* END */
};

/* Shared memory: what a child that was killed can't say any more.  */
struct walk_progress
{
  uint64_t entries;
  char at[4096];
};

/* Walks and writes records to PIPE.  The exit status of the child.  */
int walk_child (const struct walk_request *, int pipe, struct walk_progress *);
