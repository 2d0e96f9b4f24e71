/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the opening of hooks: the file that is judged is the one that runs, by its descriptor.  Runs
   in the parent, needs the right to read the program.  */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"
#include "spec/resolver.h"

#define HOOK_MAX (256 * 1024 * 1024)

/* "/proc/123/exe" -> 123, else 0.  */
static pid_t exe_pid (const char *path)
{
  static const char head[] = "/proc/", tail[] = "/exe";
  size_t len = strlen (path);
  char digits[16] = "";
  uint64_t pid;

  if (!str_has_prefix (path, head) || !str_has_suffix (path, tail)
      || len < sizeof head + sizeof tail - 2
      || len - (sizeof head + sizeof tail - 2) >= sizeof digits)
    return 0;
  memcpy (digits, path + sizeof head - 1, len - (sizeof head + sizeof tail - 2));
  return str_to_u64 (digits, 1, INT_MAX, &pid) == 0 ? (pid_t)pid : 0;
}

/* The pidfd is opened before the link is followed and asked again after: in between the number
   can't have passed to another process.  */
static int open_exe (struct resolver *r, const char *path, pid_t pid, struct fact_hook *f)
{
  cleanup_close int process = fd_pidfd_open (pid);
  cleanup_close int fd = -1;
  struct pollfd p = { .fd = process, .events = POLLIN };
  int result;

  if (process < 0)
    return process;
  fd = path_openat2 (AT_FDCWD, path, O_PATH, 0, 0);
  if (fd < 0)
    return fd;
  /* From the descriptor, not by another look at the link: the process may have executed something
     else meanwhile.  */
  result = resolver_path (r, fd, &f->link);
  if (result < 0)
    return result;
  if (poll (&p, 1, 0) != 0)
    return -ESRCH;
  SET_FACT (f, pid, (uint32_t)pid);
  return steal_fd (&fd);
}

static int set_digest (struct resolver *r, int fd, struct fact_hook *f)
{
  cleanup_free char *data = NULL;
  char hex[SHA256_HEX_SIZE];
  size_t len;
  int result = fd_read_all (fd, HOOK_MAX, f->path, &data, &len, NULL);

  if (result == 0)
    result = sha256_hex (data, len, hex);
  if (result == 0 && lseek (fd, 0, SEEK_SET) < 0)
    result = -errno;
  if (result < 0)
    return result;
  f->digest = arena_printf (r->arena, "sha256:%s", hex);
  return f->digest == NULL ? -ENOMEM : 0;
}

static int set_file (struct resolver *r, int fd, bool digest, struct fact_hook *f)
{
  cleanup_close int readable = -1;
  struct stat st;
  int result;

  if (fstat (fd, &st) < 0)
    return -errno;
  f->kind = fact_text (kind_of_mode (st.st_mode));
  SET_FACT (f, uid, st.st_uid);
  SET_FACT (f, gid, st.st_gid);
  SET_FACT (f, mode, st.st_mode & 07777);
  result = resolver_path (r, fd, &f->canonical);
  /* What isn't a regular file is never opened: a fifo would block, a device might act.  */
  if (result < 0 || !S_ISREG (st.st_mode))
    return result;
  readable = open (fd_path (fd).path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (readable < 0)
    return -errno;
  result = digest ? set_digest (r, readable, f) : 0;
  if (result == 0)
    result = resolver_keep (r, steal_fd (&readable));
  if (result < 0)
    return result;
  SET_FACT (f, descriptor, result);
  return 0;
}

static int look (struct resolver *r, const struct question_hook *q, struct fact_hook *f)
{
  const char *path = q->path == NULL ? "" : q->path;
  pid_t pid = exe_pid (path);
  cleanup_close int fd = -1;
  int opened;

  if (path[0] != '/')
    return -EINVAL;
  opened = pid > 0 ? open_exe (r, path, pid, f)
                   : path_openat2 (AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
  if (opened < 0)
    return opened;
  fd = opened;
  return set_file (r, fd, q->has_digest && q->digest, f);
}

static int resolve_hook (struct resolver *r, const struct question_hook *q, struct fact_hook *f)
{
  f->pointer = q->pointer;
  f->path = q->path;
  SET_FACT (f, descriptor, -1);
  return resolver_fact (r, look (r, q, f), &f->error);
}

int resolve_hooks (struct resolver *r)
{
  const struct questions *q = r->questions;
  struct facts *facts = r->out->facts;
  int result;

  facts->hooks = arena_alloc_array (r->arena, q->hooks_len, sizeof *facts->hooks);
  if (facts->hooks == NULL)
    return -ENOMEM;
  facts->has_hooks = true;
  for (size_t i = 0; i < q->hooks_len; i++)
    {
      result = resolve_hook (r, &q->hooks[i], &facts->hooks[i]);
      if (result < 0)
        return result;
      facts->hooks_len++;
    }
  return 0;
}
