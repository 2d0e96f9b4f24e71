/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the parent's half of a walk: the child, its time, and the facts made of what it says.  A
   file system that doesn't answer stops the child, never the parent.  Runs in the parent, needs no
   privilege.  */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "spec/resolver.h"
#include "spec/walk.h"

enum
{
  ANSWER_MAX = 64 * 1024 * 1024,
  GRACE_MS = 250, /* for a child that notices the deadline itself, with its count */
  CLOSED_WAIT_MS = 100,
  KILLED_WAIT_MS = 500 /* one that hangs in the kernel is left to end when it can */
};

struct answer
{
  char *bytes;
  size_t len;
  size_t size;
  bool late; /* the deadline passed first */
};

/* ---- the child ---- */

/* The child keeps nothing of the parent's but the tree and the pipe: should it hang, it must not
   hold an engine's pipe open.  */
static void child_main (const struct walk_request *request, int pipe,
                        struct walk_progress *progress, pid_t parent)
{
  struct walk_request q = *request;
  int tree = fcntl (request->tree, F_DUPFD_CLOEXEC, 10);
  int out = fcntl (pipe, F_DUPFD_CLOEXEC, 10);

  if (tree < 0 || out < 0 || dup3 (tree, 3, O_CLOEXEC) < 0 || dup3 (out, 4, O_CLOEXEC) < 0
      || fd_close_from (5, NULL) < 0)
    _exit (1);
  for (int fd = 0; fd < 3; fd++)
    close (fd);
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent)
    _exit (1);
  q.tree = 3;
  _exit (walk_child (&q, 4, progress));
}

static pid_t start_child (const struct walk_request *request, struct walk_progress *progress,
                          int *ret_pipe)
{
  cleanup_close int reader = -1;
  cleanup_close int writer = -1;
  pid_t parent = getpid ();
  int pipe[2];
  pid_t child;

  if (pipe2 (pipe, O_CLOEXEC) < 0)
    return -errno;
  reader = pipe[0];
  writer = pipe[1];
  child = fork ();
  if (child == 0)
    child_main (request, writer, progress, parent);
  if (child < 0)
    return -errno;
  *ret_pipe = steal_fd (&reader);
  return child;
}

/* ---- listening ---- */

static int ms_until (const struct timespec *deadline, int grace)
{
  struct timespec now;
  int64_t ms;

  clock_gettime (CLOCK_MONOTONIC, &now);
  ms = ((int64_t)deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec) / 1000000
       + grace;
  if (ms > 60 * 60 * 1000)
    ms = 60 * 60 * 1000;
  return ms < 0 ? 0 : (int)ms;
}

static int make_room (struct answer *a)
{
  size_t size = a->size == 0 ? 64 * 1024 : a->size * 2;
  char *grown;

  if (a->size - a->len >= 4096)
    return 0;
  if (size > ANSWER_MAX)
    return -EFBIG;
  grown = realloc (a->bytes, size);
  if (grown == NULL)
    return -ENOMEM;
  a->bytes = grown;
  a->size = size;
  return 0;
}

/* Reads until the child closes its end or the time is over.  */
static int listen_to (int pipe, const struct timespec *deadline, struct answer *a)
{
  for (;;)
    {
      struct pollfd p = { .fd = pipe, .events = POLLIN };
      int ready = poll (&p, 1, ms_until (deadline, GRACE_MS));
      ssize_t n;
      int r;

      if (ready < 0 && errno == EINTR)
        continue;
      if (ready < 0)
        return -errno;
      if (ready == 0)
        {
          a->late = ms_until (deadline, GRACE_MS) == 0;
          if (a->late)
            return 0;
          continue;
        }
      r = make_room (a);
      if (r < 0)
        return r;
      n = read (pipe, a->bytes + a->len, a->size - a->len);
      if (n == 0)
        return 0;
      if (n < 0 && errno != EINTR)
        return -errno;
      a->len += n < 0 ? 0 : (size_t)n;
    }
}

/* It has closed its end of the pipe or is late: nothing that it does now counts, and it doesn't
   live on, unless the kernel can't end it now.  Its status doesn't matter (and isn't to be had
   where SIGCHLD is ignored): the last record says whether it came to the end.  */
static void end_child (pid_t child)
{
  cleanup_close int process = fd_pidfd_open (child);
  struct pollfd p = { .fd = process, .events = POLLIN };

  if (process < 0 || poll (&p, 1, CLOSED_WAIT_MS) != 1)
    kill (child, SIGKILL);
  if (process >= 0)
    poll (&p, 1, KILLED_WAIT_MS);
  waitpid (child, NULL, WNOHANG);
}

/* ---- facts ---- */

struct reading
{
  const struct walk_request *request;
  struct arena *arena;
  struct fact_walk *walk;
  struct fact_nested *nested;
  size_t nested_len;
  bool ended;
};

/* Grown by doubling, whenever LEN is a power of two: no size has to be remembered.  */
static void *grow (struct arena *arena, void *items, size_t len, size_t item)
{
  if ((len & (len - 1)) != 0)
    return items;
  return arena_grow (arena, items, len * item, (len == 0 ? 1 : 2 * len) * item);
}

static int take_found (struct reading *r, const struct walk_record *record, char *path)
{
  struct fact_walk *w = r->walk;
  struct fact_found *items = grow (r->arena, w->found, w->found_len, sizeof *items);
  struct fact_found *f;

  if (items == NULL)
    return -ENOMEM;
  w->found = items;
  f = &items[w->found_len++];
  f->path = path;
  f->kind = fact_text (record->type == WALK_NEVER        ? "never"
                       : record->type == WALK_CREDENTIAL ? "credential"
                                                         : kind_of_mode (record->mode));
  if (record->mode != 0)
    {
      SET_FACT (f, dev, record->dev);
      SET_FACT (f, ino, record->ino);
      SET_FACT (f, uid, record->uid);
    }
  if (record->type == WALK_FOUND && record->live >= 0)
    SET_FACT (f, live, record->live > 0);
  if (record->type == WALK_NEVER)
    f->entry = r->request->never_facts[record->number].entry;
  return 0;
}

static int take_nested (struct reading *r, const struct walk_record *record, char *path)
{
  struct fact_nested *items = grow (r->arena, r->nested, r->nested_len, sizeof *items);
  struct fact_nested *n;

  if (items == NULL)
    return -ENOMEM;
  r->nested = items;
  n = &items[r->nested_len++];
  n->path = path;
  n->fs_type = fact_text (fs_type_name (r->arena, (unsigned long)record->number));
  SET_FACT (n, dev, record->dev);
  SET_FACT (n, ino, record->ino);
  return n->fs_type == NULL ? -ENOMEM : 0;
}

static int set_reason (struct reading *r, int reason, char *at)
{
  static const char *const names[] = { "complete", "entries", "seconds", "objects" };

  SET_FACT (r->walk, complete, reason == WALK_COMPLETE);
  if (reason == WALK_COMPLETE)
    return 0;
  r->walk->at = at;
  r->walk->reason =
      reason > 0 ? arena_strdup (r->arena, errno_name (reason)) : fact_text (names[-reason]);
  return r->walk->reason == NULL ? -ENOMEM : 0;
}

static int take_record (struct reading *r, const struct walk_record *record, char *path)
{
  if (record->type == WALK_NESTED)
    return take_nested (r, record, path);
  if (record->type != WALK_END)
    return take_found (r, record, path);
  r->ended = true;
  SET_FACT (r->walk, entries, record->number);
  return set_reason (r, record->reason, path);
}

/* Whole records only: a child that was killed may have left half a one.  */
static int take_answer (struct reading *r, const struct answer *a)
{
  struct walk_record record;
  size_t at = 0;
  int result = 0;

  while (result == 0 && a->len - at >= sizeof record)
    {
      char *path;

      memcpy (&record, a->bytes + at, sizeof record);
      at += sizeof record;
      if (record.path_len > a->len - at)
        break;
      path = arena_strndup (r->arena, a->bytes + at, record.path_len);
      at += record.path_len;
      result = path == NULL ? -ENOMEM : take_record (r, &record, path);
    }
  return result;
}

/* What the child couldn't say itself.  */
static int set_unfinished (struct reading *r, const struct walk_progress *progress, int reason)
{
  char *at = arena_strdup (r->arena, progress->at);

  SET_FACT (r->walk, entries, progress->entries);
  return at == NULL ? -ENOMEM : set_reason (r, reason, at);
}

/* ---- all of it ---- */

static int run (const struct walk_request *request, struct walk_progress *progress,
                struct reading *r)
{
  struct answer a = { 0 };
  cleanup_close int pipe = -1;
  pid_t child = start_child (request, progress, &pipe);
  int result;

  if (child < 0)
    return set_unfinished (r, progress, -child);
  result = listen_to (pipe, &request->deadline, &a);
  if (result < 0 || a.late)
    kill (child, SIGKILL);
  end_child (child);
  if (result == 0)
    result = take_answer (r, &a);
  free (a.bytes);
  if (result == -ENOMEM)
    return result;
  if (result < 0)
    return set_unfinished (r, progress, -result);
  if (!r->ended)
    return set_unfinished (r, progress, a.late ? WALK_SECONDS : ECHILD);
  return 0;
}

int walk_run (const struct walk_request *request, struct arena *arena, struct fact_walk **ret,
              struct fact_nested **ret_nested, size_t *ret_nested_len)
{
  struct walk_progress *progress =
      mmap (NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct reading r = { .request = request, .arena = arena };
  int result;

  if (progress == MAP_FAILED)
    return -ENOMEM;
  r.walk = arena_alloc (arena, sizeof *r.walk);
  result = r.walk == NULL ? -ENOMEM : run (request, progress, &r);
  munmap (progress, sizeof *progress);
  if (result < 0)
    return result;
  r.walk->has_found = true;
  *ret = r.walk;
  *ret_nested = r.nested;
  *ret_nested_len = r.nested_len;
  return 0;
}
