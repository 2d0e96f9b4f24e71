/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the opening of namespaces that a configuration joins, and the identity of those that the
   runtime itself and pid 1 are in (namespaces(7)).  Runs in the parent; pid 1's may need
   CAP_SYS_PTRACE.  */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/names.h"
#include "spec/resolver.h"

#define NSFS_MAGIC 0x6e736673

/* A namespace in /proc is a magic link; its text is no path and has no directories above it.  */
static int set_path (struct resolver *r, int fd, struct fact_namespace *f)
{
  int result = resolver_path (r, fd, &f->canonical);

  if (result < 0 || f->canonical[0] != '/')
    return result;
  result = resolver_chain (r, f->canonical, fd, &f->chain, &f->chain_len, NULL);
  f->has_chain = result == 0;
  return result == -ENOMEM ? result : 0;
}

/* Only now that it is known to be a namespace: a fifo or a device at that path was never opened. */
static int open_namespace (struct resolver *r, int fd, struct fact_namespace *f)
{
  cleanup_close int readable = open (fd_path (fd).path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat st;
  int type;

  if (readable < 0 || fstat (readable, &st) < 0)
    return -errno;
  type = ioctl (readable, NS_GET_NSTYPE);
  if (type < 0)
    return -errno;
  f->kind = fact_text (namespace_type ((uint32_t)type));
  SET_FACT (f, dev, st.st_dev);
  SET_FACT (f, ino, st.st_ino);
  if (str_equal (f->kind, "user"))
    {
      int result = resolver_user_namespace (r, readable, f);

      if (result < 0)
        return result;
    }
  type = resolver_keep (r, steal_fd (&readable));
  if (type < 0)
    return type;
  SET_FACT (f, descriptor, type);
  return 0;
}

static int look (struct resolver *r, const struct question_namespace *q, struct fact_namespace *f)
{
  /* Magic links are followed here and nowhere else: /proc/PID/ns/net is how engines name one.  */
  cleanup_close int fd = path_openat2 (AT_FDCWD, q->path == NULL ? "" : q->path, O_PATH, 0, 0);
  struct statfs fs;
  int result;

  if (fd < 0)
    return fd;
  if (fstatfs (fd, &fs) < 0)
    return -errno;
  SET_FACT (f, nsfs, fs.f_type == NSFS_MAGIC);
  result = set_path (r, fd, f);
  if (result < 0 || !f->nsfs)
    return result;
  return open_namespace (r, fd, f);
}

static int resolve_namespace (struct resolver *r, const struct question_namespace *q,
                              struct fact_namespace *f)
{
  f->pointer = q->pointer;
  f->type = q->type;
  f->path = q->path;
  SET_FACT (f, descriptor, -1);
  return resolver_fact (r, look (r, q, f), &f->error);
}

int resolve_namespaces (struct resolver *r)
{
  const struct questions *q = r->questions;
  struct facts *facts = r->out->facts;
  int result;

  facts->namespaces = arena_alloc_array (r->arena, q->namespaces_len, sizeof *facts->namespaces);
  if (facts->namespaces == NULL)
    return -ENOMEM;
  facts->has_namespaces = true;
  for (size_t i = 0; i < q->namespaces_len; i++)
    {
      result = resolve_namespace (r, &q->namespaces[i], &facts->namespaces[i]);
      if (result < 0)
        return result;
      facts->namespaces_len++;
    }
  return 0;
}
