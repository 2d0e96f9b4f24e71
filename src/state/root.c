/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the directory of all containers, and refuses one that others could tamper with: who can
   write a record can have any process killed and any cgroup emptied.  Runs in every command.  */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define LINKS_MAX    40
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define OVERFLOW_ID  65534
/* Of the initial user namespace, fixed by the kernel (PROC_USER_INIT_INO).  */
#define INITIAL_USER_NS 0xEFFFFFFDU

/* A walk from "/" to the root, one component at a time, since each must be looked at.  */
struct walk
{
  const char *root; /* as the user gave it, for messages */
  char *todo;       /* what is left, without leading slash */
  int fd;           /* where we are, O_PATH */
  unsigned links;
  bool create;
};

static void walk_free (struct walk *w)
{
  free (w->todo);
  cleanup_close_laterp (&w->fd);
}

static int unsafe (const struct walk *w, const char *why, struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  return error_set (err, -EPERM,
                    "state directory %s: %s; choose one that only its owner can change",
                    str_quote (w->root, quoted), why);
}

/* An owner that the user namespace doesn't map shows as the overflow id: rootless, that is how the
   host's root looks.  In the initial namespace it's the ordinary user nobody.  */
static bool is_trusted_owner (uid_t uid)
{
  struct stat ns;

  if (uid == 0 || uid == geteuid ())
    return true;
  return uid == OVERFLOW_ID && stat ("/proc/self/ns/user", &ns) == 0
         && ns.st_ino != INITIAL_USER_NS;
}

/* A directory on the way.  In a sticky one others may write, but not replace what isn't theirs.  */
static int check_parent (const struct walk *w, const struct stat *st, struct error *err)
{
  if (!is_trusted_owner (st->st_uid))
    return unsafe (w, "a directory on the way belongs to another user", err);
  if ((st->st_mode & OTHERS_WRITE) && !(st->st_mode & S_ISVTX))
    return unsafe (w, "others can write a directory on the way", err);
  return 0;
}

static int check_root (const struct walk *w, const struct stat *st, struct error *err)
{
  if (!S_ISDIR (st->st_mode))
    return unsafe (w, "it is not a directory", err);
  if (st->st_uid != 0 && st->st_uid != geteuid ())
    return unsafe (w, "it belongs to another user", err);
  if (st->st_mode & OTHERS_WRITE)
    return unsafe (w, "its group or others can write it", err);
  return 0;
}

static int go_to_top (struct walk *w)
{
  int fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0)
    return -errno;
  cleanup_closep (&w->fd);
  w->fd = fd;
  return 0;
}

/* Puts the target of the link LINK in front of what is left.  /var/run is one on most hosts.  */
static int follow_link (struct walk *w, int link, const struct stat *st, const char *rest,
                        struct error *err)
{
  char target[PATH_MAX];
  ssize_t n = readlinkat (link, "", target, sizeof (target) - 1);
  cleanup_strbuf struct strbuf todo = { 0 };

  if (n < 0)
    return error_errno (err, errno, "state directory %s: read a link on the way", w->root);
  target[n] = '\0';
  if (!is_trusted_owner (st->st_uid))
    return unsafe (w, "a link on the way belongs to another user", err);
  if (++w->links > LINKS_MAX)
    return error_errno (err, ELOOP, "state directory %s", w->root);
  strbuf_printf (&todo, "%s/%s", target + strspn (target, "/"), rest);
  if (todo.failed)
    return error_errno (err, ENOMEM, "state directory %s", w->root);
  memmove (todo.data, todo.data + strspn (todo.data, "/"), todo.len - strspn (todo.data, "/") + 1);
  free (w->todo);
  w->todo = steal_ptr (&todo.data);
  if (target[0] == '/' && go_to_top (w) < 0)
    return error_errno (err, errno, "state directory %s: open /", w->root);
  return 0;
}

/* Made with the mode that is asked for, whatever the umask: fchmodat before anybody relies on it.
 */
static int make_directory (const struct walk *w, const char *name, mode_t mode)
{
  if (mkdirat (w->fd, name, mode) < 0)
    return errno == EEXIST ? 0 : -errno;
  cleanup_close int fd = openat (w->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd < 0 || fchmod (fd, mode) < 0 ? -errno : 0;
}

/* Opens NAME where we are; makes it when missing.  */
static int open_component (struct walk *w, const char *name, bool last, int *ret_fd,
                           struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int fd = openat (w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0 && errno == ENOENT && w->create)
    {
      int r = make_directory (w, name, last ? 0700 : 0755);
      if (r < 0)
        return error_errno (err, -r, "make the state directory %s", str_quote (w->root, quoted));
      fd = openat (w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
  if (fd < 0 && errno == ENOENT)
    return error_set (err, -ENOENT, "state directory %s does not exist",
                      str_quote (w->root, quoted));
  if (fd < 0)
    return error_errno (err, errno, "open the state directory %s", str_quote (w->root, quoted));
  *ret_fd = fd;
  return 0;
}

/* One component.  *RET_LAST: it was the last and W->fd is the root.  */
static int step (struct walk *w, bool *ret_last, struct error *err)
{
  char name[NAME_MAX + 1];
  struct stat st;
  size_t len = strcspn (w->todo, "/");
  const char *rest = w->todo + len + strspn (w->todo + len, "/");
  bool last = *rest == '\0';
  int fd = -1, r;

  if (len > NAME_MAX)
    return error_errno (err, ENAMETOOLONG, "state directory %.64s...", w->root);
  /* A link to "/" leaves nothing to go to.  */
  snprintf (name, sizeof (name), "%.*s", len == 0 ? 1 : (int)len, len == 0 ? "." : w->todo);
  r = open_component (w, name, last, &fd, err);
  if (r < 0)
    return r;
  cleanup_close int next = fd;
  if (fstat (next, &st) < 0)
    return error_errno (err, errno, "look at the state directory %s", w->root);
  if (S_ISLNK (st.st_mode))
    return follow_link (w, next, &st, rest, err);
  r = last ? check_root (w, &st, err) : check_parent (w, &st, err);
  if (r < 0)
    return r;
  memmove (w->todo, rest, strlen (rest) + 1);
  cleanup_close_laterp (&w->fd);
  w->fd = steal_fd (&next);
  *ret_last = last;
  return 0;
}

static int open_walking (const char *root, bool create, int *ret_fd, struct error *err)
{
  __attribute__ ((
      cleanup (walk_free))) struct walk w = { .root = root, .fd = -1, .create = create };
  bool last = false;
  int fd, r;

  if (root == NULL || root[0] != '/' || root[strspn (root, "/")] == '\0')
    return error_set (err, -EINVAL, "state directory %s: not an absolute path below /",
                      root == NULL ? "(none)" : root);
  w.todo = strdup (root + strspn (root, "/"));
  if (w.todo == NULL)
    return error_errno (err, ENOMEM, "open the state directory %s", root);
  r = go_to_top (&w);
  if (r < 0)
    return error_errno (err, -r, "open the state directory %s: /", root);
  while (!last)
    {
      r = step (&w, &last, err);
      if (r < 0)
        return r;
    }
  fd = openat (w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return error_errno (err, errno, "open the state directory %s", root);
  *ret_fd = fd;
  return 0;
}

int state_root_open (const char *root, bool create, int *ret_fd, struct error *err)
{
  fd_batch_begin ();
  int r = open_walking (root, create, ret_fd, err);
  fd_batch_end ();
  return r;
}
