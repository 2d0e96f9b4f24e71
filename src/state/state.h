/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of a container between two commands: one directory ROOT/ID, mode 0700, that
   holds state.json (a struct record, see record.schema) and, made by container/, the socket
   start.sock.  Runs in the parent and in the supervisor; needs to own ROOT.  Everything is done by
   descriptor and no link below ROOT is followed.

   Order of use.  create: state_root_open, state_dir_create, state_lock, state_write …; any other
   command: state_root_open, state_dir_open, state_lock, state_read; delete: the same, then, when
   processes and cgroups are gone, state_dir_remove with the lock held.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "base/error.h"
#include "state/record.h"

#define STATE_FILE   "state.json"
#define STATE_SOCKET "start.sock"

/* Opens ROOT, an absolute path, as the directory of all containers.  With CREATE it is made with
   mode 0700, its missing parents with 0755 (whatever the umask).  The root must be a directory that
   the caller or root owns and that neither group nor others can write; the directories on the way
   there likewise, save that a sticky one (/tmp) may be writable: what others can swap is no place
   for state.  A refusal is -EPERM and its sentence is that of the rule cli.unsafe.  Missing and not
   CREATE: -ENOENT.  *RET_FD is a close-on-exec descriptor, owned by the caller.  */
int state_root_open (const char *root, bool create, int *ret_fd, struct error *err);

/* Makes ROOT/ID.  An ID that is empty, begins with '.' or holds '/' is -EINVAL; one that exists is
   -EEXIST, "container ID exists already" in words.  Until the caller is sure to keep it, a
   cleanup_state_dir owns it.  *RET_DIRFD is owned by the caller.  */
int state_dir_create (int rootfd, const char *id, int *ret_dirfd, struct error *err);

/* Opens ROOT/ID.  -ENOENT says `container "ID" does not exist`.  */
int state_dir_open (int rootfd, const char *id, int *ret_dirfd, struct error *err);

/* Removes ROOT/ID: the files that agentrun puts there, then the directory.  Hold the lock
   exclusively.  state.json goes last, so that an interrupted removal leaves what delete --force
   still knows, or an empty directory, which this function removes as well.  A directory that isn't
   there is success; a file that agentrun doesn't know is -ENOTEMPTY and named.  */
int state_dir_remove (int rootfd, const char *id, struct error *err);

/* A directory that goes again when its scope ends, unless state_dir_keep was called.
     cleanup_state_dir struct state_half_made half = STATE_NOT_MADE;
     … state_dir_create (rootfd, id, &dirfd, err) …
     half = (struct state_half_made){ .rootfd = rootfd, .id = id };
   ROOTFD and ID are borrowed and must outlive the scope.  */
struct state_half_made
{
  int rootfd;
  const char *id; /* NULL: nothing to remove */
};
#define STATE_NOT_MADE                                                                             \
  {                                                                                                \
    -1, NULL                                                                                       \
  }
void state_half_made_cleanup (struct state_half_made *half);
static inline void state_dir_keep (struct state_half_made *half) { half->id = NULL; }
#define cleanup_state_dir __attribute__ ((cleanup (state_half_made_cleanup)))

/* Locks the directory DIRFD of container ID, flock(2) on the directory itself, waiting at most
   TIMEOUT_MS (0: not at all).  Then it is looked up again: when ROOT/ID is another directory by
   now, or none, the answer is -ENOENT and the sentence of state_dir_open.  Still locked after the
   time: -EBUSY, "another command is working on container ID".
   *RET_FD owns the lock: release it with state_unlock, not close alone, since a forked child
   that has a copy of the descriptor would keep it locked.  */
int state_lock (int rootfd, const char *id, int dirfd, bool exclusive, int timeout_ms, int *ret_fd,
                struct error *err);

/* Unlocks for every holder of a copy, and closes.  *FD becomes -1; -1 is allowed.  */
void state_unlock (int *fd);
#define cleanup_state_lock __attribute__ ((cleanup (state_unlock)))

/* Replaces state.json in one rename, mode 0600.  Nothing is synced to disk: the state of processes
   doesn't survive a reboot anyway.  Hold the lock exclusively.  */
int state_write (int dirfd, const struct record *record, struct error *err);

/* Reads state.json, strictly; *RET lives in ARENA.  -ENOENT when there is none (a create that was
   interrupted), -EPERM when it isn't a regular file of root or the caller or others may write it,
   -EINVAL when it is cut, no state of agentrun, or of a version that this one doesn't know.  */
int state_read (int dirfd, struct arena *arena, struct record **ret, struct error *err);

/* The ids of all directories below ROOT, sorted, in ARENA.  Nothing is opened: an entry may be
   gone, or without a state.json, when it is looked at.  */
int state_list (int rootfd, struct arena *arena, char ***ret_ids, size_t *ret_len,
                struct error *err);
