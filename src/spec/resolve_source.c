/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the opening of bind sources and of the root file system: each becomes a detached private
   tree, and all facts are taken from the object that the tree was made of.  Runs in the parent;
   open_tree(2) with OPEN_TREE_CLONE needs CAP_SYS_ADMIN over the mount namespace.  */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/resolver.h"
#include "spec/walk.h"

/* How often a host that renames or mounts at the same time is met with another try.  */
enum
{
  TRIES = 16
};

/* What is being found out about one source.  */
struct source
{
  struct resolver *r;
  const struct question_source *q;
  struct fact_source *fact;
  const char *step;
  int object; /* O_PATH, in the host's mount namespace */
  int tree;   /* the detached clone */
};

static int open_object (struct source *s)
{
  const char *path = s->q->path == NULL ? "" : s->q->path;
  int dir = path[0] == '/' ? AT_FDCWD : s->r->bundle_fd;

  s->step = "open";
  if (path[0] != '/' && dir < 0)
    return dir;
  /* Links are followed: what they lead to is judged.  Not so the kernel's magic ones
     (/proc/1/root): they jump over every directory that could be judged.  */
  s->object = path_openat2 (dir, path, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
  return s->object < 0 ? s->object : 0;
}

/* The mount table that belongs to the clone: no mount came or went between its reading and the
 * cloning.  */
static int clone_tree (struct source *s)
{
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;

  s->step = "clone";
  if (s->q->recursive)
    flags |= AT_RECURSIVE;
  for (int i = 0; i < TRIES; i++)
    {
      int result = mountinfo_refresh (&s->r->mounts);

      if (result < 0)
        return result;
      s->tree = (int)syscall (SYS_open_tree, s->object, "", flags);
      if (s->tree < 0)
        return -errno;
      if (!mountinfo_changed (&s->r->mounts))
        return 0;
      cleanup_closep (&s->tree);
    }
  return -EAGAIN;
}

/* ---- facts of the object ---- */

/* The object below its mount: the clone's root must be it.  */
static int check_clone (struct source *s, const struct statx *object)
{
  struct statx tree;

  if (statx (s->tree, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &tree) < 0)
    return -errno;
  return tree.stx_ino == object->stx_ino && tree.stx_dev_major == object->stx_dev_major
                 && tree.stx_dev_minor == object->stx_dev_minor
             ? 0
             : -EAGAIN;
}

static int set_stat (struct source *s)
{
  struct fact_source *f = s->fact;
  struct statx st;
  struct statfs fs;
  int result;

  if (statx (s->object, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0
      || fstatfs (s->object, &fs) < 0)
    return -errno;
  result = check_clone (s, &st);
  if (result < 0)
    return result;
  f->kind = fact_text (kind_of_mode (st.stx_mode));
  SET_FACT (f, dev, makedev (st.stx_dev_major, st.stx_dev_minor));
  SET_FACT (f, ino, st.stx_ino);
  SET_FACT (f, rdev, makedev (st.stx_rdev_major, st.stx_rdev_minor));
  SET_FACT (f, uid, st.stx_uid);
  SET_FACT (f, gid, st.stx_gid);
  SET_FACT (f, mode, st.stx_mode & 07777);
  SET_FACT (f, nlink, st.stx_nlink);
  SET_FACT (f, mount_point, (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0);
  f->fs_type = fact_text (fs_type_name (s->r->arena, (unsigned long)fs.f_type));
  if (f->fs_type == NULL)
    return -ENOMEM;
  if ((st.stx_mask & STATX_MNT_ID) != 0)
    {
      const struct mount_entry *m = mountinfo_find (&s->r->mounts, st.stx_mnt_id);

      f->mount_root = m == NULL ? NULL : arena_strdup (s->r->arena, m->root);
    }
  return 0;
}

static void set_live (struct source *s)
{
  int live;

  if (!str_equal (s->fact->kind, "socket"))
    return;
  live = socket_is_live (s->object);
  if (live >= 0)
    SET_FACT (s->fact, live, live > 0);
}

/* Only the initial user namespace's mounts are told for certain: elsewhere the member stays absent.
 */
static void set_user_namespace (struct source *s)
{
  const struct fact_host *host = s->r->out->facts->host;

  if (host != NULL && host->has_initial_user_namespace && host->initial_user_namespace)
    SET_FACT (s->fact, user_namespace_mount, false);
}

static int set_path (struct source *s)
{
  struct fact_source *f = s->fact;
  dev_t parent;
  int result = -EAGAIN;

  for (int i = 0; result == -EAGAIN && i < TRIES; i++)
    {
      result = resolver_path (s->r, s->object, &f->path);
      if (result == 0)
        result = resolver_chain (s->r, f->path, s->object, &f->chain, &f->chain_len, &parent);
    }
  if (result < 0)
    return result;
  f->has_chain = true;
  SET_FACT (f, mount_dev, f->chain_len == 0 ? f->dev : parent);
  return 0;
}

/* ---- mounts below ---- */

/* A mount of the table is in the clone if a mount begins there: an unbindable one wasn't taken, a
   covered one isn't seen.  Nothing asks the file system itself (AT_STATX_DONT_SYNC, the type from
   the table): one that doesn't answer must not stop the parent.  */
static int add_nested (struct source *s, const char *relative, const char *type,
                       struct fact_nested *ret)
{
  cleanup_close int fd = path_openat2 (s->tree, relative, O_PATH | O_NOFOLLOW, 0,
                                       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  struct statx st;

  if (fd < 0)
    return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
  if (statx (fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st) < 0)
    return -errno;
  if ((st.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0)
    return 0;
  ret->path = arena_strdup (s->r->arena, relative);
  ret->fs_type = arena_strdup (s->r->arena, type);
  if (ret->path == NULL || ret->fs_type == NULL)
    return -ENOMEM;
  SET_FACT (ret, dev, makedev (st.stx_dev_major, st.stx_dev_minor));
  SET_FACT (ret, ino, st.stx_ino);
  return 1;
}

static bool has_nested (const struct fact_nested *list, size_t len, const char *path)
{
  for (size_t i = 0; i < len; i++)
    if (strcmp (list[i].path, path) == 0)
      return true;
  return false;
}

/* What of POINT lies below the source, or NULL.  */
static const char *below_source (const char *source, const char *point)
{
  size_t len = strcmp (source, "/") == 0 ? 0 : strlen (source);

  if (!path_is_within (point, source) || point[len] != '/' || point[len + 1] == '\0')
    return NULL;
  return point + len + 1;
}

static int set_nested (struct source *s)
{
  const struct mountinfo *m = &s->r->mounts;
  struct fact_source *f = s->fact;
  size_t count = 0;
  int result;

  if (!s->q->recursive || !str_equal (f->kind, "directory"))
    return 0;
  for (size_t i = 0; i < m->len; i++)
    count += below_source (f->path, m->entries[i].point) != NULL;
  f->nested = arena_alloc_array (s->r->arena, count, sizeof *f->nested);
  if (f->nested == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < m->len; i++)
    {
      const char *relative = below_source (f->path, m->entries[i].point);

      if (relative == NULL || has_nested (f->nested, f->nested_len, relative))
        continue;
      result = add_nested (s, relative, m->entries[i].type, &f->nested[f->nested_len]);
      if (result < 0)
        return result;
      f->nested_len += (size_t)result;
    }
  f->has_nested = true;
  return 0;
}

/* What the walk met is added: two looks at the same tree, and neither trusts the other.  */
static int merge_nested (struct source *s, const struct fact_nested *met, size_t len)
{
  struct fact_source *f = s->fact;
  struct fact_nested *all = arena_grow (s->r->arena, f->nested, f->nested_len * sizeof *all,
                                        (f->nested_len + len) * sizeof *all);

  if (all == NULL)
    return -ENOMEM;
  f->nested = all;
  for (size_t i = 0; i < len; i++)
    if (!has_nested (f->nested, f->nested_len, met[i].path))
      f->nested[f->nested_len++] = met[i];
  f->has_nested = true;
  return 0;
}

/* ---- the walk ---- */

static int collect_never (struct resolver *r, struct never_object **ret, size_t *ret_len)
{
  const struct fact_host *host = r->out->facts->host;
  size_t len = 0;
  struct never_object *list;

  list = arena_alloc_array (r->arena, host->never_len, sizeof *list);
  if (list == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < host->never_len; i++)
    if (host->never[i].has_ino)
      list[len++] = (struct never_object){ host->never[i].dev, host->never[i].ino, (uint32_t)i };
  qsort (list, len, sizeof *list, never_object_compare);
  *ret = list;
  *ret_len = len;
  return 0;
}

/* No grant reaches it (mount.never), so nobody asks what is in it: "/" alone would use up the time
   of all other sources.  Should the policy not think so after all, a directory without a walk is
   refused.  */
static bool is_never (const struct source *s)
{
  const struct fact_host *host = s->r->out->facts->host;
  for (size_t i = 0; host != NULL && i < host->never_len; i++)
    {
      const struct fact_never *n = &host->never[i];
      if (n->path != NULL && s->fact->path != NULL && path_is_within (n->path, s->fact->path))
        return true;
      if (n->has_dev && n->has_ino && n->dev == s->fact->dev && n->ino == s->fact->ino)
        return true;
    }
  return false;
}

static int walk_source (struct source *s)
{
  struct resolver *r = s->r;
  struct fact_nested *nested = NULL;
  struct never_object *never;
  size_t nested_len = 0, never_len;
  int result;

  if (!s->q->walk || !str_equal (s->fact->kind, "directory") || is_never (s))
    return 0;
  result = collect_never (r, &never, &never_len);
  if (result < 0)
    return result;
  struct walk_request request = { .tree = s->tree,
                                  .recursive = s->q->recursive,
                                  .never = never,
                                  .never_len = never_len,
                                  .never_facts = r->out->facts->host->never,
                                  .entries = r->entries_left,
                                  .deadline = r->deadline };
  result = walk_run (&request, r->arena, &s->fact->walk, &nested, &nested_len);
  if (result < 0)
    return result;
  r->entries_left -=
      s->fact->walk->entries < r->entries_left ? s->fact->walk->entries : r->entries_left;
  return merge_nested (s, nested, nested_len);
}

/* ---- names ---- */

/* A link anywhere in the name is ELOOP: what it leads to is not what was named.  */
static int look_up_name (struct source *s, const char *path, struct fact_name *name)
{
  cleanup_close int fd =
      path_openat2 (s->tree, path, O_PATH, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  struct stat st;
  int result = fd < 0 ? fd : fstat (fd, &st) < 0 ? -errno : 0;

  if (result < 0)
    return resolver_fact (s->r, result, &name->error);
  name->kind = fact_text (kind_of_mode (st.st_mode));
  SET_FACT (name, dev, st.st_dev);
  SET_FACT (name, ino, st.st_ino);
  return 0;
}

static int look_up_names (struct source *s)
{
  if (s->q->names_len == 0 || !str_equal (s->fact->kind, "directory"))
    return 0;
  s->fact->names = arena_alloc_array (s->r->arena, s->q->names_len, sizeof *s->fact->names);
  if (s->fact->names == NULL)
    return -ENOMEM;
  s->fact->has_names = true;
  for (size_t i = 0; i < s->q->names_len; i++)
    {
      struct fact_name *name = &s->fact->names[s->fact->names_len++];
      int result;

      name->path = s->q->names[i];
      result = look_up_name (s, s->q->names[i], name);
      if (result < 0)
        return result;
    }
  return 0;
}

/* ---- all of it ---- */

static int look (struct source *s)
{
  int result;

  result = open_object (s);
  if (result == 0)
    result = clone_tree (s);
  if (result < 0)
    return result;
  s->step = "stat";
  result = set_stat (s);
  if (result == 0)
    result = set_path (s);
  if (result == 0)
    result = set_nested (s);
  if (result < 0)
    return result;
  set_live (s);
  set_user_namespace (s);
  result = look_up_names (s);
  return result < 0 ? result : walk_source (s);
}

/* A fact with an error says nothing else, so that no half-known object is judged.  */
static int set_error (struct source *s, int code)
{
  const struct fact_source failed = {
    .pointer = s->q->pointer,
    .source = s->q->path,
    .error = resolver_errno (s->r, -code),
    .step = fact_text (s->step),
    .has_descriptor = true,
    .descriptor = -1,
  };

  *s->fact = failed;
  return failed.error == NULL ? -ENOMEM : 0;
}

static int resolve_source (struct resolver *r, const struct question_source *q,
                           struct fact_source *fact, int *ret_tree)
{
  struct source s = { .r = r, .q = q, .fact = fact, .object = -1, .tree = -1 };
  int result;

  fact->pointer = q->pointer;
  fact->source = q->path;
  result = look (&s);
  cleanup_closep (&s.object);
  if (result < 0)
    {
      cleanup_closep (&s.tree);
      return result == -ENOMEM ? result : set_error (&s, result);
    }
  result = resolver_keep (r, s.tree);
  if (result < 0)
    return result;
  SET_FACT (fact, descriptor, result);
  if (ret_tree != NULL)
    *ret_tree = s.tree;
  return 0;
}

/* ---- the root file system ---- */

/* Links aren't followed: rootfs.shape is about a /proc that is one.  */
static int add_members (struct resolver *r, int tree)
{
  static const char *const names[] = { "proc", "sys", "dev" };
  struct facts *facts = r->out->facts;

  facts->root_members =
      arena_alloc_array (r->arena, ARRAY_SIZE (names), sizeof *facts->root_members);
  if (facts->root_members == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < ARRAY_SIZE (names); i++)
    {
      struct fact_member *m = &facts->root_members[i];
      struct stat st;
      int error = fstatat (tree, names[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;

      m->path = arena_printf (r->arena, "/%s", names[i]);
      if (m->path == NULL)
        return -ENOMEM;
      if (error == ENOENT)
        m->kind = fact_text ("absent");
      else
        m->kind = fact_text (error == 0 ? kind_of_mode (st.st_mode) : "unknown");
    }
  facts->root_members_len = ARRAY_SIZE (names);
  facts->has_root_members = true;
  return 0;
}

static int resolve_rootfs (struct resolver *r)
{
  struct facts *facts = r->out->facts;
  int tree = -1;
  int result;

  if (r->questions->rootfs == NULL)
    return 0;
  facts->rootfs = arena_alloc (r->arena, sizeof *facts->rootfs);
  if (facts->rootfs == NULL)
    return -ENOMEM;
  result = resolve_source (r, r->questions->rootfs, facts->rootfs, &tree);
  if (result < 0 || tree < 0)
    return result;
  return str_equal (facts->rootfs->kind, "directory") ? add_members (r, tree) : 0;
}

int resolve_sources (struct resolver *r)
{
  const struct questions *q = r->questions;
  struct facts *facts = r->out->facts;
  int result;

  facts->sources = arena_alloc_array (r->arena, q->sources_len, sizeof *facts->sources);
  if (facts->sources == NULL)
    return -ENOMEM;
  facts->has_sources = true;
  for (size_t i = 0; i < q->sources_len; i++)
    {
      result = resolve_source (r, &q->sources[i], &facts->sources[i], NULL);
      if (result < 0)
        return result;
      facts->sources_len++;
    }
  return resolve_rootfs (r);
}
