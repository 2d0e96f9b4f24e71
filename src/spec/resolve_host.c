/* SPDX-License-Identifier: Apache-2.0 */
/* Owns what is asked about the host itself: who and where the runtime is, groups, the objects that
   no grant reaches, data roots of engines.  Runs in the parent, needs no privilege; what an
   ordinary user can't see stays unknown.  */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/lsm.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/names.h"
#include "spec/resolver.h"

/* Of /etc/passwd and /etc/group.  */
#define DATABASE_MAX (64 * 1024 * 1024)

/* ---- namespaces ---- */

static int add_namespace (struct resolver *r, struct fact_host *host, const char *type,
                          const char *process, const char *of)
{
  struct fact_host_namespace *f = &host->namespaces[host->namespaces_len++];
  char path[64];
  struct stat st;

  f->type = fact_text (type);
  f->of = fact_text (of);
  snprintf (path, sizeof path, "/proc/%s/ns/%s", process, namespace_proc_name (type));
  if (stat (path, &st) < 0)
    {
      f->error = resolver_errno (r, errno);
      return f->error == NULL ? -ENOMEM : 0;
    }
  SET_FACT (f, dev, st.st_dev);
  SET_FACT (f, ino, st.st_ino);
  return 0;
}

static int set_namespaces (struct resolver *r, struct fact_host *host)
{
  static const char *const types[] = { "pid", "network", "mount",  "ipc",
                                       "uts", "user",    "cgroup", "time" };
  int result = 0;

  if (!r->questions->host_namespaces)
    return 0;
  host->namespaces = arena_alloc_array (r->arena, 2 * ARRAY_SIZE (types), sizeof *host->namespaces);
  if (host->namespaces == NULL)
    return -ENOMEM;
  host->has_namespaces = true;
  for (size_t i = 0; result == 0 && i < ARRAY_SIZE (types); i++)
    {
      result = add_namespace (r, host, types[i], "self", "self");
      if (result == 0)
        result = add_namespace (r, host, types[i], "1", "init");
    }
  return result;
}

/* ---- groups ---- */

/* A database of accounts as a stream in memory: on a file, libc asks for its offset at each line.
 *TEXT has to outlive the stream.  -ENOENT when there is none.  */
static int open_database (const char *path, char **text, FILE **ret)
{
  cleanup_close int fd = open (path, O_RDONLY | O_CLOEXEC);
  size_t len;

  if (fd < 0)
    return -errno;
  int result = fd_read_all (fd, DATABASE_MAX, path, text, &len, NULL);
  if (result < 0)
    return result;
  *ret = fmemopen (*text, len, "re");
  return *ret == NULL ? -errno : 0;
}

/* The files, not the name service: its modules are code that nobody judged, run as root.  */
static int read_groups (struct resolver *r, struct fact_host *host)
{
  const struct questions *q = r->questions;
  cleanup_free char *text = NULL;
  cleanup_file FILE *file = NULL;
  size_t size = 0;
  struct group *g;
  int result = open_database ("/etc/group", &text, &file);

  if (result < 0)
    return result == -ENOENT ? 0 : result;
  while (errno = 0, (g = fgetgrent (file)) != NULL)
    for (size_t i = 0; i < q->groups_len; i++)
      if (str_equal (g->gr_name, q->groups[i]))
        {
          struct fact_group *grown =
              arena_grow (r->arena, host->groups, size, size + sizeof *grown);

          if (grown == NULL)
            return -ENOMEM;
          host->groups = grown;
          size += sizeof *grown;
          grown[host->groups_len].name = q->groups[i];
          SET_FACT (&grown[host->groups_len], gid, g->gr_gid);
          host->groups_len++;
        }
  return errno == 0 || errno == ENOENT ? 0 : -errno;
}

static int set_groups (struct resolver *r, struct fact_host *host)
{
  int result;

  if (r->questions->groups_len == 0)
    return 0;
  host->has_groups = true;
  result = read_groups (r, host);
  return resolver_fact (r, result, &host->groups_error);
}

/* ---- objects that no grant reaches ---- */

struct never_list
{
  struct resolver *r;
  struct fact_never *items;
  size_t len;
  size_t size;
};

static struct fact_never *never_slot (struct never_list *list)
{
  size_t size = list->size == 0 ? 64 : list->size * 2;
  struct fact_never *grown;

  if (list->len == list->size)
    {
      grown = arena_grow (list->r->arena, list->items, list->size * sizeof *grown,
                          size * sizeof *grown);
      if (grown == NULL)
        return NULL;
      list->items = grown;
      list->size = size;
    }
  return &list->items[list->len];
}

/* Nothing there, or nothing that a path leads to: no object to protect.  */
static bool is_absent (int code)
{
  return code == -ENOENT || code == -ENOTDIR || code == -ELOOP || code == -ENAMETOOLONG;
}

/* ENTRY is the whole path as listed, NAME how to reach it from DIR.  0 when added or absent.  */
static int add_never (struct never_list *list, int dir, const char *name, const char *entry)
{
  cleanup_close int fd = path_openat2 (dir, name, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
  struct fact_never *f;
  struct stat st;
  int result = 0;

  if (fd < 0 && is_absent (fd))
    return 0;
  /* What the caller may not look at it can't bind either (another user's home, a root-squashed
     one): the path alone protects it.  Every other failure leaves a hole in the list.  */
  if (fd < 0 && fd != -EACCES)
    return fd;
  f = never_slot (list);
  if (f == NULL)
    return -ENOMEM;
  f->entry = arena_strdup (list->r->arena, entry);
  f->path = f->entry;
  if (fd >= 0)
    {
      if (fstat (fd, &st) < 0)
        return -errno;
      result = resolver_path (list->r, fd, &f->path);
      SET_FACT (f, dev, st.st_dev);
      SET_FACT (f, ino, st.st_ino);
      f->kind = fact_text (kind_of_mode (st.st_mode));
    }
  if (result < 0 || f->entry == NULL)
    return result < 0 ? result : -ENOMEM;
  list->len++;
  return 0;
}

static int add_home (struct never_list *list, const char *home)
{
  const struct questions *q = list->r->questions;
  cleanup_close int dir =
      path_openat2 (AT_FDCWD, home, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS);
  const char *slash = str_has_suffix (home, "/") ? "" : "/";
  int result;

  if (dir < 0 && (is_absent (dir) || dir == -EACCES))
    return is_absent (dir) ? 0 : add_never (list, AT_FDCWD, home, home);
  if (dir < 0)
    return dir;
  result = add_never (list, AT_FDCWD, home, home);
  for (size_t i = 0; result == 0 && i < q->home_names_len; i++)
    {
      cleanup_free char *entry = NULL;

      if (asprintf (&entry, "%s%s%s", home, slash, q->home_names[i]) < 0)
        {
          entry = NULL;
          return -ENOMEM;
        }
      result = add_never (list, dir, q->home_names[i], entry);
    }
  return result;
}

static bool seen_home (char **homes, size_t len, const char *home)
{
  for (size_t i = 0; i < len; i++)
    if (strcmp (homes[i], home) == 0)
      return true;
  return false;
}

/* System accounts share a few homes ("/", "/nonexistent"): each is looked at once.  */
static int add_homes (struct never_list *list)
{
  struct arena *arena = list->r->arena;
  cleanup_free char *text = NULL;
  cleanup_file FILE *file = NULL;
  char **homes = NULL;
  size_t len = 0, size = 0;
  struct passwd *p;
  int result = open_database ("/etc/passwd", &text, &file);

  if (result < 0)
    return result == -ENOENT ? 0 : result;
  while (errno = 0, result == 0 && (p = fgetpwent (file)) != NULL)
    {
      if (p->pw_dir == NULL || p->pw_dir[0] != '/' || seen_home (homes, len, p->pw_dir))
        continue;
      if (len == size)
        {
          homes = arena_grow (arena, homes, size * sizeof *homes, (size + 64) * sizeof *homes);
          size += 64;
        }
      if (homes == NULL || (homes[len] = arena_strdup (arena, p->pw_dir)) == NULL)
        return -ENOMEM;
      result = add_home (list, homes[len++]);
    }
  if (result == 0 && errno != 0 && errno != ENOENT)
    result = -errno;
  return result;
}

static int set_never (struct resolver *r, struct fact_host *host)
{
  const struct questions *q = r->questions;
  struct never_list list = { .r = r };
  int result = 0;

  for (size_t i = 0; result == 0 && i < q->never_len; i++)
    result = add_never (&list, AT_FDCWD, q->never[i], q->never[i]);
  if (result == 0 && q->homes)
    result = add_homes (&list);
  host->never = list.items;
  host->never_len = list.len;
  host->has_never = true;
  return resolver_fact (r, result, &host->never_error);
}

/* ---- the user namespace ---- */

/* The first line of /proc/self/uid_map, user_namespaces(7).  */
struct first_map
{
  unsigned long inside;
  unsigned long outside;
  unsigned long count;
};

static bool read_first_map (struct first_map *map)
{
  cleanup_file FILE *file = fopen ("/proc/self/uid_map", "re");

  return file != NULL
         && fscanf (file, "%lu %lu %lu", &map->inside, &map->outside, &map->count) == 3;
}

/* The initial one maps all ids to themselves.  */
static bool in_initial_user_namespace (void)
{
  struct first_map map;

  return read_first_map (&map) && map.inside == 0 && map.outside == 0 && map.count == 4294967295UL;
}

/* ---- engines ---- */

/* An engine that isn't there has no files to recognise.  A root that is found twice is kept once.
 */
static int add_engine_root (struct resolver *r, struct fact_host *host, const char *path)
{
  cleanup_close int fd =
      path_openat2 (AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS);
  char *root;
  char **grown;
  int result;

  if (fd < 0)
    return 0;
  result = resolver_path (r, fd, &root);
  if (result < 0)
    return result == -ENOMEM ? result : 0;
  for (size_t i = 0; i < host->engine_roots_len; i++)
    if (strcmp (host->engine_roots[i], root) == 0)
      return 0;
  grown = arena_grow (r->arena, host->engine_roots, host->engine_roots_len * sizeof *grown,
                      (host->engine_roots_len + 1) * sizeof *grown);
  if (grown == NULL)
    return -ENOMEM;
  host->engine_roots = grown;
  grown[host->engine_roots_len++] = root;
  return 0;
}

static int add_engine_roots (struct resolver *r, struct fact_host *host, const char *base,
                             const char *below, char **names, size_t names_len)
{
  int result = 0;

  if (base == NULL || base[0] != '/')
    return 0;
  for (size_t i = 0; result == 0 && i < names_len; i++)
    {
      cleanup_free char *path = NULL;

      if (asprintf (&path, "%s/%s%s", base, below, names[i]) < 0)
        {
          path = NULL;
          return -ENOMEM;
        }
      result = add_engine_root (r, host, path);
    }
  return result;
}

/* The account's home by the host's file; NULL in *HOME for an account that is not in it.  */
static int home_of_account (struct resolver *r, unsigned long uid, const char **home)
{
  cleanup_free char *text = NULL;
  cleanup_file FILE *file = NULL;
  struct passwd *p;
  int result = open_database ("/etc/passwd", &text, &file);

  *home = NULL;
  if (result < 0)
    return result == -ENOMEM ? result : 0;
  while (*home == NULL && (p = fgetpwent (file)) != NULL)
    if (p->pw_uid == uid && p->pw_dir != NULL)
      {
        *home = arena_strdup (r->arena, p->pw_dir);
        if (*home == NULL)
          return -ENOMEM;
      }
  return 0;
}

/* Root of a user namespace that is not the initial one is a rootless engine's user, one level out.
   Such an engine keeps its files by the XDG base directories, and hands its environment on; nothing
   of a container's is in that.  */
static int add_user_engine_roots (struct resolver *r, struct fact_host *host)
{
  const struct questions *q = r->questions;
  const char *home;
  struct first_map map;
  char run[64];
  int result;

  if (host->initial_user_namespace || !read_first_map (&map) || map.inside != 0)
    return 0;
  snprintf (run, sizeof run, "/run/user/%lu", map.outside);
  result = home_of_account (r, map.outside, &home);
  const struct
  {
    const char *base;
    const char *below;
    char **names;
    size_t len;
  } places[] = {
    { home, ".local/share/", q->user_data_roots, q->user_data_roots_len },
    { getenv ("HOME"), ".local/share/", q->user_data_roots, q->user_data_roots_len },
    { getenv ("XDG_DATA_HOME"), "", q->user_data_roots, q->user_data_roots_len },
    { run, "", q->user_runtime_roots, q->user_runtime_roots_len },
    { getenv ("XDG_RUNTIME_DIR"), "", q->user_runtime_roots, q->user_runtime_roots_len },
  };

  for (size_t i = 0; result == 0 && i < ARRAY_SIZE (places); i++)
    result =
        add_engine_roots (r, host, places[i].base, places[i].below, places[i].names, places[i].len);
  return result;
}

static int set_engine_roots (struct resolver *r, struct fact_host *host)
{
  const struct questions *q = r->questions;
  int result = 0;

  host->has_engine_roots = true;
  for (size_t i = 0; result == 0 && i < q->engine_roots_len; i++)
    result = add_engine_root (r, host, q->engine_roots[i]);
  return result < 0 ? result : add_user_engine_roots (r, host);
}

/* ---- the rest ---- */

#ifndef LANDLOCK_CREATE_RULESET_VERSION
#  define LANDLOCK_CREATE_RULESET_VERSION 1U
#endif

static int landlock_abi (void)
{
  long version =
      syscall (SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);

  return version < 0 ? 0 : (int)version;
}

/* Both are off on most hosts of one distribution.  */
static const char *security_module (void)
{
  return lsm_apparmor_enabled () ? "apparmor" : lsm_selinux_enabled () ? "selinux" : NULL;
}

static int set_identity (struct resolver *r, struct fact_host *host)
{
  struct utsname names;
  struct rlimit files;

  if (getrlimit (RLIMIT_NOFILE, &files) == 0)
    {
      SET_FACT (host, open_files_soft, files.rlim_cur);
      SET_FACT (host, open_files_hard, files.rlim_max);
    }
  SET_FACT (host, uid, geteuid ());
  SET_FACT (host, initial_user_namespace, in_initial_user_namespace ());
  SET_FACT (host, landlock_abi, landlock_abi ());
  host->lsm = fact_text (security_module ());
  if (uname (&names) < 0)
    return -errno;
  host->kernel = arena_strdup (r->arena, names.release);
  return host->kernel == NULL ? -ENOMEM : 0;
}

int resolve_host (struct resolver *r)
{
  static int (*const parts[]) (struct resolver *,
                               struct fact_host *) = { set_identity, set_namespaces, set_groups,
                                                       set_never, set_engine_roots };
  struct fact_host *host = arena_alloc (r->arena, sizeof *host);
  int result = host == NULL ? -ENOMEM : 0;

  r->out->facts->host = host;
  for (size_t i = 0; result == 0 && i < ARRAY_SIZE (parts); i++)
    result = parts[i](r, host);
  return result;
}
