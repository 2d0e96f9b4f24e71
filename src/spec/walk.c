/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the walk itself: breadth first through a detached tree, following no link.  Runs in a child
   of the parent, which kills it at the deadline; needs the right to read the directories.  */
#include "spec/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

enum
{
  BUFFER_SIZE = 64 * 1024,
  FOUND_MAX = 4096,     /* sockets and the like; more is a reason to stop */
  CREDENTIALS_MAX = 64, /* only warnings: the first ones say it all */
  CREDENTIAL_DEPTH = 2,
  CLOCK_INTERVAL = 1024 /* entries between two looks at the clock */
};

/* A directory that waits, or is above one that waits.  All stay until the child ends.  */
struct node
{
  const struct node *parent;
  struct node *next;
  unsigned depth; /* of what it contains: 1 for the source itself */
  char name[];
};

struct walk
{
  const struct walk_request *request;
  struct walk_progress *progress;
  int pipe;
  struct node *head, *tail;
  bool stat_all; /* the numbers in directory entries can't be relied on */
  uint64_t entries;
  unsigned found;
  unsigned credentials;
  int reason; /* the first one */
  char at[PATH_MAX];
  char path[PATH_MAX]; /* of the directory that is being read; "" is the source */
};

struct entry
{
  const char *name;
  uint64_t ino;
  unsigned char type;
  bool has_stat;
  struct statx st;
};

int never_object_compare (const void *a, const void *b)
{
  const struct never_object *x = a, *y = b;

  if (x->ino != y->ino)
    return x->ino < y->ino ? -1 : 1;
  return x->dev < y->dev ? -1 : x->dev > y->dev;
}

/* ---- saying what was found ---- */

/* PATH_MAX bytes at most; a longer one can't be opened, and is an error before it gets here.  */
static int join (const char *dir, const char *name, char ret[PATH_MAX])
{
  size_t dir_len = strlen (dir), name_len = strlen (name);

  if (dir_len + name_len + 2 > PATH_MAX)
    return -ENAMETOOLONG;
  memcpy (ret, dir, dir_len);
  if (dir_len > 0)
    ret[dir_len++] = '/';
  memcpy (ret + dir_len, name, name_len + 1);
  return 0;
}

static int send_record (struct walk *w, struct walk_record *record, const char *path)
{
  int r;

  record->path_len = (uint32_t)strlen (path);
  r = fd_write_all (w->pipe, record, sizeof *record, NULL);
  return r < 0 ? r : fd_write_all (w->pipe, path, record->path_len, NULL);
}

/* A record of the entry E in the current directory.  */
static int send_entry (struct walk *w, enum walk_record_type type, const struct entry *e,
                       struct walk_record *record)
{
  char path[PATH_MAX];
  int r = join (w->path, e->name, path);

  if (r < 0)
    return r;
  record->type = type;
  if (e->has_stat)
    {
      record->dev = makedev (e->st.stx_dev_major, e->st.stx_dev_minor);
      record->ino = e->st.stx_ino;
      record->uid = e->st.stx_uid;
      record->mode = e->st.stx_mode;
    }
  return send_record (w, record, path);
}

/* Remembers the first reason why the walk can't vouch for everything.  */
static void incomplete (struct walk *w, int reason, const char *name)
{
  if (w->reason != WALK_COMPLETE)
    return;
  w->reason = reason;
  if (join (w->path, name, w->at) < 0)
    memcpy (w->at, w->path, sizeof w->at);
}

/* ---- one entry ---- */

static bool is_special (unsigned char type)
{
  return type == DT_SOCK || type == DT_FIFO || type == DT_BLK || type == DT_CHR;
}

/* The first of the never objects with this inode number, or NULL.  */
static const struct never_object *never_by_ino (const struct walk_request *q, uint64_t ino)
{
  size_t low = 0, high = q->never_len;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;

      if (q->never[middle].ino < ino)
        low = middle + 1;
      else
        high = middle;
    }
  return low < q->never_len && q->never[low].ino == ino ? &q->never[low] : NULL;
}

static int report_never (struct walk *w, const struct entry *e)
{
  const struct walk_request *q = w->request;
  const struct never_object *n = never_by_ino (q, e->st.stx_ino);
  uint64_t dev = makedev (e->st.stx_dev_major, e->st.stx_dev_minor);

  for (; n != NULL && n < q->never + q->never_len && n->ino == e->st.stx_ino; n++)
    if (n->dev == dev)
      {
        struct walk_record record = { .number = n->index };

        w->found++;
        return send_entry (w, WALK_NEVER, e, &record);
      }
  return 0;
}

static int report_special (struct walk *w, int dirfd, const struct entry *e)
{
  struct walk_record record = { .live = -1 };

  w->found++;
  if (e->type == DT_SOCK)
    {
      cleanup_close int fd = openat (dirfd, e->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

      if (fd >= 0)
        record.live = socket_is_live (fd);
    }
  return send_entry (w, WALK_FOUND, e, &record);
}

static int report_nested (struct walk *w, int dirfd, const struct entry *e)
{
  cleanup_close int fd = openat (dirfd, e->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct walk_record record = { 0 };
  struct statfs fs;

  if (fd < 0 || fstatfs (fd, &fs) < 0)
    return -errno;
  record.number = (uint64_t)fs.f_type;
  return send_entry (w, WALK_NESTED, e, &record);
}

/* 0 also when the entry is gone again: what comes and goes during a walk is no worse than what
   comes after it (policy.md, "What a verdict can't promise").  */
static int look (struct entry *e, int dirfd)
{
  if (statx (dirfd, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &e->st) < 0)
    return errno == ENOENT ? 0 : -errno;
  e->has_stat = true;
  e->type = IFTODT (e->st.stx_mode);
  return 0;
}

static int push (struct walk *w, const struct node *parent, const char *name)
{
  size_t len = strlen (name);
  struct node *n = malloc (sizeof *n + len + 1);

  if (n == NULL)
    return -ENOMEM;
  n->parent = parent;
  n->next = NULL;
  n->depth = parent == NULL ? 1 : parent->depth + 1;
  memcpy (n->name, name, len + 1);
  if (w->tail == NULL)
    w->head = n;
  else
    w->tail->next = n;
  w->tail = n;
  return 0;
}

static int judge_entry (struct walk *w, const struct node *dir, int dirfd, struct entry *e)
{
  bool credential = dir->depth <= CREDENTIAL_DEPTH && w->credentials < CREDENTIALS_MAX
                    && is_credential_name (e->name);
  int r = 0;

  if (w->stat_all || credential || e->type == DT_UNKNOWN || is_special (e->type)
      || never_by_ino (w->request, e->ino) != NULL)
    {
      r = look (e, dirfd);
      if (r < 0 || !e->has_stat)
        return r;
      if ((e->st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
        r = report_nested (w, dirfd, e);
      if (r == 0)
        r = report_never (w, e);
    }
  if (r == 0 && is_special (e->type))
    r = report_special (w, dirfd, e);
  if (r == 0 && credential && (e->type == DT_REG || e->type == DT_DIR))
    {
      struct walk_record record = { 0 };

      w->credentials++;
      r = send_entry (w, WALK_CREDENTIAL, e, &record);
    }
  return r == 0 && e->type == DT_DIR ? push (w, dir, e->name) : r;
}

static bool past (const struct timespec *deadline)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec > deadline->tv_sec
         || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* Whether the walk has to end before this entry.  */
static bool used_up (struct walk *w, const char *name)
{
  if (w->entries >= w->request->entries)
    incomplete (w, WALK_ENTRIES, name);
  else if (w->found > FOUND_MAX)
    incomplete (w, WALK_OBJECTS, name);
  else if (w->entries % CLOCK_INTERVAL == 0 && past (&w->request->deadline))
    incomplete (w, WALK_SECONDS, name);
  else
    return false;
  return true;
}

/* ---- one directory ---- */

/* linux/dirent.h isn't for user space, getdents64(2) has it.  */
struct linux_dirent64
{
  uint64_t d_ino;
  int64_t d_off;
  unsigned short d_reclen;
  unsigned char d_type;
  char d_name[];
};

/* False when the budget is used up.  */
static bool read_buffer (struct walk *w, const struct node *dir, int dirfd, const char *buffer,
                         size_t len)
{
  for (size_t at = 0; at < len;)
    {
      const struct linux_dirent64 *d = (const void *)(buffer + at);
      struct entry e = { .name = d->d_name, .ino = d->d_ino, .type = d->d_type };
      int r;

      at += d->d_reclen;
      if (str_equal (e.name, ".") || str_equal (e.name, ".."))
        continue;
      if (used_up (w, e.name))
        return false;
      w->entries++;
      r = judge_entry (w, dir, dirfd, &e);
      if (r < 0)
        incomplete (w, -r, e.name);
    }
  w->progress->entries = w->entries;
  return true;
}

static bool read_directory (struct walk *w, const struct node *dir, int dirfd)
{
  _Alignas(struct linux_dirent64) static char buffer[BUFFER_SIZE];
  long len;

  while ((len = syscall (SYS_getdents64, dirfd, buffer, sizeof buffer)) > 0)
    if (!read_buffer (w, dir, dirfd, buffer, (size_t)len))
      return false;
  if (len < 0)
    incomplete (w, errno, ".");
  return true;
}

/* The path of a directory from its nodes.  */
static int set_path (struct walk *w, const struct node *n)
{
  size_t at = sizeof w->path - 1;

  w->path[at] = '\0';
  for (; n != NULL && n->parent != NULL; n = n->parent)
    {
      size_t len = strlen (n->name);

      if (len + 1 > at)
        return -ENAMETOOLONG;
      if (w->path[at] != '\0')
        w->path[--at] = '/';
      at -= len;
      memcpy (w->path + at, n->name, len);
    }
  memmove (w->path, w->path + at, sizeof w->path - at);
  return 0;
}

static bool visit (struct walk *w, const struct node *dir)
{
  cleanup_close int fd = -1;
  int r = set_path (w, dir);

  if (r == 0)
    {
      memcpy (w->progress->at, w->path, sizeof w->progress->at);
      fd = path_openat2 (w->request->tree, w->path[0] == '\0' ? "." : w->path,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0,
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
      r = fd;
    }
  if (r >= 0)
    return read_directory (w, dir, fd);
  /* Gone, or another thing by now: see look.  */
  if (r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
    incomplete (w, -r, ".");
  return true;
}

/* ---- the child ---- */

/* File systems whose directory entries carry the numbers that stat gives.  Overlays and network
   file systems may not, and at a mount point the entry has the covered object's.  */
static bool reliable_numbers (int tree)
{
  static const unsigned long magics[] = { 0xef53, 0x58465342, 0x01021994, 0xf2f52010 };
  struct statfs fs;

  for (size_t i = 0; fstatfs (tree, &fs) == 0 && i < ARRAY_SIZE (magics); i++)
    if ((unsigned long)fs.f_type == magics[i])
      return true;
  return false;
}

int walk_child (const struct walk_request *request, int pipe, struct walk_progress *progress)
{
  struct walk w = { .request = request, .progress = progress, .pipe = pipe };
  struct walk_record end = { .type = WALK_END };

  w = (struct walk){ .request = request, .progress = progress, .pipe = pipe };
  w.stat_all = request->recursive || !reliable_numbers (request->tree);
  if (push (&w, NULL, "") < 0)
    return 1;
  for (const struct node *n = w.head; n != NULL; n = n->next)
    if (!visit (&w, n))
      break;
  end.number = w.entries;
  end.reason = w.reason;
  return send_record (&w, &end, w.at) < 0;
}
