/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups by openat2(2) and work on what they return.  Runs in the parent and in init; needs no
   privilege of its own beyond that of the caller for the objects named.  */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

/* openat2 gives EAGAIN when a rename anywhere on the host raced with "..".  */
#define RETRIES 128
/* How often one component may change under us before that is an attack, and as many links as the
   kernel follows (path_resolution(7)).  */
#define TRIES_PER_STEP 16
#define LINKS_MAX      40
#define MADE_FILE_MODE 0644

#define IN_ROOT (RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)

int path_openat2 (int dirfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
  struct open_how how = { .flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve };
  long fd = -1;

  for (int i = 0; i < RETRIES; i++)
    {
      fd = syscall (SYS_openat2, dirfd, path, &how, sizeof (how));
      if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
        break;
    }
  return fd < 0 ? -errno : (int)fd;
}

int path_open_in_root (int rootfd, const char *path, uint64_t flags, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int fd = path_openat2 (rootfd, path, flags, 0, IN_ROOT);

  if (fd < 0)
    return error_errno (err, -fd, "open %s inside the root", str_quote (path, quoted));
  return fd;
}

/* A walk that makes what is missing.  DONE and AHEAD are allocated; DONE names, from the root,
   what CUR is open on.  */
struct walk
{
  int rootfd;
  int cur;
  char *done;
  char *ahead;
  int links;
  int tries;
  bool made;   /* whether the component before the end was made by us */
  bool looked; /* the next component was looked up already, and is missing */
};

static void walk_free (struct walk *w)
{
  cleanup_closep (&w->cur);
  free (w->done);
  free (w->ahead);
}

/* What is left behind the first component of AHEAD, "" when that one is the last.  */
static const char *rest_of (const char *ahead, size_t len)
{
  const char *rest = ahead + len;

  for (;;)
    {
      rest += strspn (rest, "/");
      if (rest[0] != '.' || (rest[1] != '/' && rest[1] != '\0'))
        return rest;
      rest++;
    }
}

static int walk_enter (struct walk *w, int fd, char *done, const char *rest)
{
  char *ahead = strdup (rest);

  if (ahead == NULL)
    {
      close (fd);
      free (done);
      return -ENOMEM;
    }
  close (w->cur);
  free (w->done);
  free (w->ahead);
  w->cur = fd;
  w->done = done;
  w->ahead = ahead;
  w->tries = 0;
  return 0;
}

/* The component is a link without a target: its text takes its place in AHEAD, read from the link
   that was opened, and resolved from where the link is, or from the root of the container.  */
static int walk_dangling_link (struct walk *w, int link, const char *rest)
{
  char target[PATH_MAX];
  char *ahead;

  ssize_t n = readlinkat (link, "", target, sizeof (target) - 1);
  if (n < 0)
    return -errno;
  target[n] = '\0';
  if (++w->links > LINKS_MAX)
    return -ELOOP;
  if (asprintf (&ahead, "%s/%s", target, rest) < 0)
    return -ENOMEM;
  if (target[0] == '/')
    {
      int root = path_openat2 (w->rootfd, "/", O_PATH | O_DIRECTORY, 0, IN_ROOT);
      char *done = strdup ("");
      if (root < 0 || done == NULL)
        {
          free (ahead);
          free (done);
          if (root < 0)
            return root;
          close (root);
          return -ENOMEM;
        }
      int r = walk_enter (w, root, done, ahead);
      free (ahead);
      return r;
    }
  free (w->ahead);
  w->ahead = ahead;
  return 0;
}

/* Makes NAME in the directory CUR.  It is looked up again afterwards like one that was there, so
   that whoever swaps it in between gains nothing.  */
static int walk_make (struct walk *w, const char *name, bool as_file, mode_t dir_mode)
{
  if (!as_file)
    {
      if (mkdirat (w->cur, name, dir_mode) < 0)
        return -errno;
    }
  else
    {
      cleanup_close int fd =
          openat (w->cur, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                  MADE_FILE_MODE);
      if (fd < 0)
        return -errno;
    }
  w->made = true;
  return 0;
}

/* NAME does not resolve: nothing at all, or a dangling link, which is in the way of whatever would
   be made.  */
static int walk_missing (struct walk *w, const char *name, const char *rest, bool as_file,
                         mode_t dir_mode)
{
  struct stat st;
  int r = walk_make (w, name, as_file && rest[0] == '\0', dir_mode);
  if (r == 0)
    return 0;

  cleanup_close int link = path_openat2 (w->cur, name, O_PATH | O_NOFOLLOW, 0, IN_ROOT);
  if (link < 0)
    return link == -ENOENT && r != -EEXIST ? r : link == -ENOENT ? 0 : link;
  if (fstat (link, &st) < 0)
    return -errno;
  /* Anything else appeared since the first look: look again.  */
  return S_ISLNK (st.st_mode) ? walk_dangling_link (w, link, rest) : 0;
}

/* One component: enter it, replace it by its target, or make it.  The kernel resolves what is there
   (".." included) from the root each time, so that no rename leads out.  */
static int walk_step (struct walk *w, enum path_kind kind, mode_t dir_mode)
{
  const char *start = rest_of (w->ahead, 0);
  size_t len = strcspn (start, "/");
  const char *rest = rest_of (start, len);
  cleanup_free char *name = strndup (start, len);
  cleanup_free char *next = NULL;

  if (name == NULL || asprintf (&next, "%s/%s", w->done, name) < 0)
    return -ENOMEM;
  if (++w->tries > TRIES_PER_STEP)
    return -EAGAIN;

  int fd = w->looked ? -ENOENT : path_openat2 (w->rootfd, next, O_PATH, 0, IN_ROOT);
  w->looked = false;
  if (fd >= 0)
    {
      if (rest[0] != '\0')
        w->made = false;
      return walk_enter (w, fd, steal_ptr (&next), rest);
    }
  if (fd != -ENOENT)
    return fd;
  return walk_missing (w, name, rest, kind == PATH_FILE, dir_mode);
}

/* Most that is asked for is there, or lacks its last component only: then the walk begins there. */
static int walk_begin (struct walk *w, const char *path, enum path_kind kind, bool missing)
{
  const uint64_t flags = O_PATH | (kind == PATH_DIRECTORY ? O_DIRECTORY : 0);
  const char *last = strrchr (path, '/');
  int fd = missing ? -ENOENT : path_openat2 (w->rootfd, path, flags, 0, IN_ROOT);

  if (fd >= 0)
    {
      w->cur = fd;
      w->done = strdup (path);
      w->ahead = strdup ("");
      return w->done == NULL || w->ahead == NULL ? -ENOMEM : 0;
    }
  const bool begins_there = fd == -ENOENT && last != NULL && last[1] != '\0'
                            && strcmp (last, "/.") != 0 && strcmp (last, "/..") != 0;
  w->done = strndup (path, begins_there ? (size_t)(last - path) : 0);
  w->ahead = strdup (path);
  if (w->done == NULL || w->ahead == NULL)
    return -ENOMEM;
  if (begins_there)
    w->cur = path_openat2 (w->rootfd, w->done[0] != '\0' ? w->done : "/", O_PATH | O_DIRECTORY, 0,
                           IN_ROOT);
  w->looked = w->cur >= 0;
  if (w->looked)
    {
      memmove (w->ahead, w->ahead + (last + 1 - path), strlen (last + 1) + 1);
      return 0;
    }
  w->done[0] = '\0';
  w->cur = path_openat2 (w->rootfd, "/", O_PATH | O_DIRECTORY, 0, IN_ROOT);
  return w->cur < 0 ? w->cur : 0;
}

static int walk (struct walk *w, const char *path, enum path_kind kind, bool missing,
                 mode_t dir_mode)
{
  int r = walk_begin (w, path, kind, missing);

  while (r >= 0 && *rest_of (w->ahead, 0) != '\0')
    r = walk_step (w, kind, dir_mode);
  return r;
}

static int make_in_root (int rootfd, const char *path, enum path_kind kind, bool missing,
                         mode_t dir_mode, bool *ret_made, int *ret_fd, struct error *err)
{
  __attribute__ ((cleanup (walk_free))) struct walk w = { .rootfd = rootfd, .cur = -1 };
  char quoted[STR_QUOTE_MAX];
  struct stat st;

  int r = walk (&w, path, kind, missing, dir_mode);
  if (r < 0)
    return error_errno (err, -r, "make %s inside the root", str_quote (path, quoted));
  if (fstat (w.cur, &st) < 0)
    return error_errno (err, errno, "stat %s inside the root", str_quote (path, quoted));
  if (kind == PATH_DIRECTORY && !S_ISDIR (st.st_mode))
    return error_set (err, -ENOTDIR, "%s inside the root is there, but is not a directory",
                      str_quote (path, quoted));
  if (kind == PATH_FILE && S_ISDIR (st.st_mode))
    return error_set (err, -EISDIR, "%s inside the root is there, but is a directory",
                      str_quote (path, quoted));

  if (ret_made != NULL)
    *ret_made = w.made;
  *ret_fd = steal_fd (&w.cur);
  return 0;
}

int path_make_in_root (int rootfd, const char *path, enum path_kind kind, mode_t dir_mode,
                       bool *ret_made, int *ret_fd, struct error *err)
{
  return make_in_root (rootfd, path, kind, false, dir_mode, ret_made, ret_fd, err);
}

int path_make_missing_in_root (int rootfd, const char *path, enum path_kind kind, mode_t dir_mode,
                               bool *ret_made, int *ret_fd, struct error *err)
{
  return make_in_root (rootfd, path, kind, true, dir_mode, ret_made, ret_fd, err);
}

struct fd_path fd_path (int fd)
{
  struct fd_path p;

  snprintf (p.path, sizeof (p.path), "/proc/self/fd/%d", fd);
  return p;
}

int path_of_fd (int fd, char **ret, struct error *err)
{
  for (size_t size = 256; size <= 16 * PATH_MAX; size *= 2)
    {
      cleanup_free char *path = malloc (size);
      if (path == NULL)
        return error_errno (err, ENOMEM, "read the path of descriptor %d", fd);

      ssize_t n = readlink (fd_path (fd).path, path, size);
      if (n < 0)
        return error_errno (err, errno, "read the path of descriptor %d", fd);
      if ((size_t)n < size)
        {
          path[n] = '\0';
          *ret = steal_ptr (&path);
          return 0;
        }
    }
  return error_errno (err, ENAMETOOLONG, "read the path of descriptor %d", fd);
}

char *path_normalize (const char *path)
{
  /* Never longer than the input, but for the slash in front.  */
  char *result = malloc (strlen (path) + 2);
  size_t len = 0;

  if (result == NULL)
    return NULL;
  for (const char *p = path; *p != '\0';)
    {
      p += strspn (p, "/");
      size_t n = strcspn (p, "/");

      if (n == 2 && p[0] == '.' && p[1] == '.')
        while (len > 0 && result[--len] != '/')
          ;
      else if (n > 0 && !(n == 1 && p[0] == '.'))
        {
          result[len++] = '/';
          memcpy (result + len, p, n);
          len += n;
        }
      p += n;
    }
  if (len == 0)
    result[len++] = '/';
  result[len] = '\0';
  return result;
}

int path_read_file (int dirfd, const char *path, size_t max, char **ret, size_t *ret_len,
                    struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  struct stat st;
  uint64_t below = dirfd == AT_FDCWD ? 0 : RESOLVE_BENEATH;

  str_quote (path, quoted);
  /* O_NONBLOCK: a fifo in its place must not hold us up before fstat can refuse it.  */
  cleanup_close int fd = path_openat2 (dirfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
                                       below | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (fd < 0)
    return error_errno (err, -fd, "open %s", quoted);
  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "stat %s", quoted);
  if (!S_ISREG (st.st_mode))
    return error_set (err, -EINVAL, "read %s: it is not a regular file", quoted);
  return fd_read_all (fd, max, quoted, ret, ret_len, err);
}

int path_read_knob (int dirfd, const char *name, size_t max, char **ret, struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  str_quote (name, quoted);
  cleanup_close int fd =
      path_openat2 (dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
                    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (fd < 0)
    return error_errno (err, -fd, "open %s", quoted);
  return fd_read_knob (fd, max, quoted, ret, NULL, err);
}

int path_write_file (int dirfd, const char *path, const char *data, struct error *err)
{
  char quoted[STR_QUOTE_MAX], quoted_data[STR_QUOTE_MAX];
  uint64_t below = dirfd == AT_FDCWD ? 0 : RESOLVE_BENEATH;
  size_t len = strlen (data);

  str_quote (path, quoted);
  cleanup_close int fd =
      path_openat2 (dirfd, path, O_WRONLY | O_NOCTTY, 0, below | RESOLVE_NO_MAGICLINKS);
  if (fd < 0)
    return error_errno (err, -fd, "open %s for writing", quoted);

  /* A knob takes its value in one write; the rest of a short one would be another value.  */
  ssize_t n = write (fd, data, len);
  if (n < 0)
    return error_errno (err, errno, "write %s to %s", str_quote (data, quoted_data), quoted);
  if ((size_t)n != len)
    return error_set (err, -EIO, "write %s to %s: only %zd of %zu bytes were taken",
                      str_quote (data, quoted_data), quoted, n, len);
  return 0;
}
