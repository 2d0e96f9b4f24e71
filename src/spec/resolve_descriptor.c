/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the look at descriptors that will reach the process (standard streams, --preserve-fds,
   LISTEN_FDS).  Runs in the parent, needs no privilege.  */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "spec/resolver.h"

#define NSFS_MAGIC  0x6e736673
#define PIDFS_MAGIC 0x50494446

static const char *access_name (int flags)
{
  static const char *const names[] = {
    [O_RDONLY] = "read", [O_WRONLY] = "write", [O_RDWR] = "both"
  };
  unsigned mode = (unsigned)flags & O_ACCMODE;

  if ((flags & O_PATH) != 0)
    return "path";
  return mode < ARRAY_SIZE (names) ? names[mode] : "both";
}

static const char *family_name (int fd)
{
  static const struct
  {
    int domain;
    const char *name;
  } families[] = { { AF_UNIX, "unix" },
                   { AF_INET, "inet" },
                   { AF_INET6, "inet6" },
                   { AF_NETLINK, "netlink" },
                   { AF_VSOCK, "vsock" } };
  int domain = -1;
  socklen_t len = sizeof domain;

  if (getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0)
    for (size_t i = 0; i < ARRAY_SIZE (families); i++)
      if (families[i].domain == domain)
        return families[i].name;
  return "other";
}

/* "anon_inode:[eventfd]" -> "anon:[eventfd]"; older kernels show a pidfd as one.  */
static const char *anonymous_kind (struct arena *arena, const char *link)
{
  static const char head[] = "anon_inode:";

  if (str_equal (link, "anon_inode:[pidfd]"))
    return "pidfd";
  return arena_printf (arena, "anon:%s", link + sizeof head - 1);
}

/* A kind that the file system or the link's text tells, or NULL.  */
static const char *special_kind (struct arena *arena, int fd, const char *link,
                                 const struct stat *st)
{
  struct statfs fs;
  bool known = fstatfs (fd, &fs) == 0;

  if (known && fs.f_type == NSFS_MAGIC)
    return "nsfs";
  if (known && fs.f_type == PIDFS_MAGIC)
    return "pidfd";
  if (str_has_prefix (link, "anon_inode:"))
    return anonymous_kind (arena, link);
  if (S_ISREG (st->st_mode) && st->st_nlink == 0 && str_has_prefix (link, "/memfd:"))
    return "memfd";
  return NULL;
}

/* A directory whose mount isn't in this namespace's table is of a detached mount, or another
   namespace's: from either one a process reaches what was never judged.  From a file it reaches
   nothing else; an ordinary user's standard streams are files of the namespace that he came from.
 */
static bool is_foreign_mount (struct resolver *r, int fd, const struct stat *st)
{
  struct statx sx;

  if (!S_ISDIR (st->st_mode))
    return false;
  if (mountinfo_refresh (&r->mounts) < 0 || statx (fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) < 0
      || (sx.stx_mask & STATX_MNT_ID) == 0)
    return false;
  return mountinfo_find (&r->mounts, sx.stx_mnt_id) == NULL;
}

static int look (struct resolver *r, int fd, struct fact_descriptor *f)
{
  int flags = fcntl (fd, F_GETFL);
  const char *kind = NULL;
  char *link;
  struct stat st;
  int result;

  if (flags < 0 || fstat (fd, &st) < 0)
    return -errno;
  result = resolver_path (r, fd, &link);
  if (result < 0)
    return result;
  if ((flags & O_PATH) != 0)
    kind = "path";
  else
    kind = special_kind (r->arena, fd, link, &st);
  f->kind = fact_text (kind == NULL ? kind_of_mode (st.st_mode) : kind);
  f->access = fact_text (access_name (flags));
  SET_FACT (f, rdev, st.st_rdev);
  if (S_ISSOCK (st.st_mode))
    f->family = fact_text (family_name (fd));
  SET_FACT (f, mount,
            kind == NULL || str_equal (kind, "path") ? is_foreign_mount (r, fd, &st) : false);
  return 0;
}

int resolve_descriptors (struct resolver *r)
{
  const struct questions *q = r->questions;
  struct facts *facts = r->out->facts;
  int result;

  facts->descriptors = arena_alloc_array (r->arena, q->descriptors_len, sizeof *facts->descriptors);
  if (facts->descriptors == NULL)
    return -ENOMEM;
  facts->has_descriptors = true;
  for (size_t i = 0; i < q->descriptors_len; i++)
    {
      struct fact_descriptor *f = &facts->descriptors[facts->descriptors_len++];

      SET_FACT (f, number, q->descriptors[i]);
      result = q->descriptors[i] > INT_MAX ? -EBADF : look (r, (int)q->descriptors[i], f);
      result = resolver_fact (r, result, &f->error);
      if (result < 0)
        return result;
    }
  return 0;
}
