/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the order in which questions are answered, the table of descriptors, and what the answers
   have in common: canonical paths, the chain of directories above an object.  Runs in the parent,
   in the engine's mount namespace, before anything was made.  Cloning a source needs CAP_SYS_ADMIN
   over that namespace; without it each source's fact says EPERM.  */
#include "spec/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/resolver.h"

/* What a question without a budget gets, as policy.md has it.  */
enum
{
  DEFAULT_SCAN_ENTRIES = 2000000,
  DEFAULT_SCAN_SECONDS = 20
};

int resolver_keep (struct resolver *r, int fd)
{
  struct resolved *out = r->out;
  size_t size;
  int *grown;

  if (out->descriptors_len == r->descriptors_size)
    {
      size = r->descriptors_size == 0 ? 16 : r->descriptors_size * 2;
      grown = realloc (out->descriptors, size * sizeof *grown);
      if (grown == NULL)
        {
          close (fd);
          return -ENOMEM;
        }
      out->descriptors = grown;
      r->descriptors_size = size;
    }
  out->descriptors[out->descriptors_len] = fd;
  return (int)out->descriptors_len++;
}

void resolved_free (struct resolved *resolved)
{
  for (size_t i = 0; i < resolved->descriptors_len; i++)
    cleanup_closep (&resolved->descriptors[i]);
  free (resolved->descriptors);
  memset (resolved, 0, sizeof *resolved);
}

char *resolver_errno (struct resolver *r, int errnum)
{
  return arena_strdup (r->arena, errno_name (errnum));
}

int resolver_fact (struct resolver *r, int result, char **ret_fact)
{
  if (result >= 0 || result == -ENOMEM)
    return result;
  *ret_fact = resolver_errno (r, -result);
  return *ret_fact == NULL ? -ENOMEM : 0;
}

int resolver_path (struct resolver *r, int fd, char **ret)
{
  struct error err = { 0 };
  cleanup_free char *path = NULL;
  int result = path_of_fd (fd, &path, &err);

  if (result < 0)
    return result;
  *ret = arena_strdup (r->arena, path);
  return *ret == NULL ? -ENOMEM : 0;
}

/* ---- the chain of directories ---- */

struct chain
{
  struct fact_directory *items;
  size_t len;
  dev_t last_dev;
};

static int chain_add (struct resolver *r, struct chain *c, int fd, const char *path,
                      size_t path_len)
{
  struct fact_directory *d;
  struct stat st;

  if (fstat (fd, &st) < 0)
    return -errno;
  d = &c->items[c->len];
  d->path = path_len == 0 ? arena_strdup (r->arena, "/") : arena_strndup (r->arena, path, path_len);
  if (d->path == NULL)
    return -ENOMEM;
  SET_FACT (d, uid, st.st_uid);
  SET_FACT (d, gid, st.st_gid);
  SET_FACT (d, mode, st.st_mode & 07777);
  c->len++;
  c->last_dev = st.st_dev;
  return 0;
}

static int same_object (int a, int b)
{
  struct stat st_a, st_b;

  if (fstat (a, &st_a) < 0 || fstat (b, &st_b) < 0)
    return -errno;
  return st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino ? 0 : -EAGAIN;
}

/* Steps down from the root, one component a time; "/" itself has nothing above it.  */
static int chain_walk (struct resolver *r, struct chain *c, const char *path, int fd)
{
  cleanup_close_later int cur = path_openat2 (AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0, 0);
  const char *at = path + 1;
  int result = cur < 0 ? cur : 0;

  while (result == 0 && *at != '\0')
    {
      size_t len = strcspn (at, "/");
      cleanup_free char *name = strndup (at, len);
      size_t above = at == path + 1 ? 0 : (size_t)(at - path) - 1;
      int next;

      if (name == NULL)
        return -ENOMEM;
      result = chain_add (r, c, cur, path, above);
      if (result < 0)
        return result;
      next = path_openat2 (cur, name, O_PATH | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
      if (next < 0)
        return next == -ENOENT || next == -ENOTDIR || next == -ELOOP ? -EAGAIN : next;
      cleanup_close_laterp (&cur);
      cur = next;
      at += len;
      at += *at == '/';
    }
  return result < 0 ? result : same_object (cur, fd);
}

int resolver_chain (struct resolver *r, const char *path, int fd, struct fact_directory **ret,
                    size_t *ret_len, dev_t *ret_parent)
{
  struct chain c = { 0 };
  size_t parts = 1;
  int result;

  if (path[0] != '/')
    return -EAGAIN;
  for (const char *s = path; *s != '\0'; s++)
    parts += *s == '/';
  c.items = arena_alloc_array (r->arena, parts, sizeof *c.items);
  if (c.items == NULL)
    return -ENOMEM;
  fd_batch_begin ();
  result = chain_walk (r, &c, path, fd);
  fd_batch_end ();
  if (result < 0)
    return result;
  *ret = c.items;
  *ret_len = c.len;
  if (ret_parent != NULL)
    *ret_parent = c.last_dev;
  return 0;
}

/* ---- names ---- */

const char *kind_of_mode (mode_t mode)
{
  static const struct
  {
    mode_t type;
    const char *kind;
  } kinds[] = {
    { S_IFDIR, "directory" }, { S_IFREG, "file" }, { S_IFSOCK, "socket" }, { S_IFIFO, "fifo" },
    { S_IFBLK, "block" },     { S_IFCHR, "char" }, { S_IFLNK, "symlink" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
    if ((mode & S_IFMT) == kinds[i].type)
      return kinds[i].kind;
  return "unknown";
}

/* linux/magic.h lacks some of them.  */
const char *fs_type_name (struct arena *arena, unsigned long magic)
{
  static const struct
  {
    unsigned long magic;
    const char *name;
  } types[] = {
    { 0x9fa0, "proc" },
    { 0x62656572, "sysfs" },
    { 0x01021994, "tmpfs" },
    { 0x6e736673, "nsfs" },
    { 0x794c7630, "overlay" },
    { 0xef53, "ext" },
    { 0x58465342, "xfs" },
    { 0x9123683e, "btrfs" },
    { 0xf2f52010, "f2fs" },
    { 0x2fc12fc1, "zfs" },
    { 0x6969, "nfs" },
    { 0x65735546, "fuse" },
    { 0x1cd1, "devpts" },
    { 0x19800202, "mqueue" },
    { 0x27e0eb, "cgroup" },
    { 0x63677270, "cgroup2" },
    { 0x64626720, "debugfs" },
    { 0x74726163, "tracefs" },
    { 0x73636673, "securityfs" },
    { 0xf97cff8c, "selinux" },
    { 0xcafe4a11, "bpf" },
    { 0x858458f6, "ramfs" },
    { 0x958458f6, "hugetlbfs" },
    { 0x0187, "autofs" },
    { 0x62656570, "configfs" },
    { 0x6165676c, "pstore" },
    { 0xde5e81e4, "efivarfs" },
    { 0x42494e4d, "binfmt_misc" },
    { 0x73717368, "squashfs" },
    { 0xe0f5e1e2, "erofs" },
    { 0x4d44, "vfat" },
    { 0x9660, "iso9660" },
    { 0xff534d42, "cifs" },
    { 0xfe534d42, "smb2" },
    { 0x01021997, "9p" },
    { 0x00c36400, "ceph" },
    { 0x50494446, "pidfs" },
    { 0x09041934, "anon_inode" },
    { 0x534f434b, "sockfs" },
    { 0x50495045, "pipefs" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (types); i++)
    if (types[i].magic == magic)
      return types[i].name;
  return arena_printf (arena, "0x%lx", magic);
}

/* ---- the bundle ---- */

static int resolve_bundle (struct resolver *r)
{
  struct facts *facts = r->out->facts;
  struct stat st, config;

  facts->bundle = r->questions->bundle;
  if (r->bundle_fd < 0 || fstat (r->bundle_fd, &st) < 0)
    {
      facts->bundle_error = resolver_errno (r, r->bundle_fd < 0 ? -r->bundle_fd : errno);
      return facts->bundle_error == NULL ? -ENOMEM : 0;
    }
  SET_FACT (facts, bundle_uid, st.st_uid);
  SET_FACT (facts, bundle_mode, st.st_mode & 07777);
  if (fstatat (r->bundle_fd, "config.json", &config, AT_SYMLINK_NOFOLLOW) == 0)
    {
      SET_FACT (facts, config_uid, config.st_uid);
      SET_FACT (facts, config_mode, config.st_mode & 07777);
    }
  return 0;
}

/* ---- the order ---- */

static void set_budget (struct resolver *r)
{
  const struct questions *q = r->questions;

  r->entries_left = q->has_scan_entries ? q->scan_entries : DEFAULT_SCAN_ENTRIES;
  clock_gettime (CLOCK_MONOTONIC, &r->deadline);
  r->deadline.tv_sec += q->has_scan_seconds ? q->scan_seconds : DEFAULT_SCAN_SECONDS;
}

int spec_resolve_at (int bundle_fd, const struct questions *questions, struct arena *arena,
                     struct resolved *ret, struct error *err)
{
  /* The host first: walks compare what they find with its never objects.  */
  static int (*const parts[]) (struct resolver *) = { resolve_bundle,  resolve_host,
                                                      resolve_sources, resolve_namespaces,
                                                      resolve_hooks,   resolve_descriptors };
  cleanup_resolved struct resolved out = { 0 };
  struct resolver r = { .questions = questions,
                        .arena = arena,
                        .out = &out,
                        .bundle_fd = bundle_fd,
                        .mounts = { .fd = -1 } };
  int result = 0;

  out.facts = arena_alloc (arena, sizeof *out.facts);
  if (out.facts == NULL)
    return error_errno (err, ENOMEM, "look at the host");
  set_budget (&r);
  for (size_t i = 0; result == 0 && i < ARRAY_SIZE (parts); i++)
    result = parts[i](&r);
  mountinfo_free (&r.mounts);
  if (result < 0)
    return error_errno (err, -result, "look at the host");
  *ret = out;
  memset (&out, 0, sizeof out);
  return 0;
}

int spec_resolve (const struct questions *questions, struct arena *arena, struct resolved *ret,
                  struct error *err)
{
  cleanup_close int fd = -1;
  int opened = path_openat2 (AT_FDCWD, questions->bundle == NULL ? "" : questions->bundle,
                             O_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS);

  if (opened >= 0)
    fd = opened;
  return spec_resolve_at (opened, questions, arena, ret, err);
}
