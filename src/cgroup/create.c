/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the groups of a container, level by level and by descriptor.  Runs in the parent, in the
   host's mount namespace, and needs to be allowed to write the hierarchies.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define KNOB_MAX  65536
/* Another container's removal may take a parent away between two steps of ours.  */
#define TRIES 8

/* What is being made, for all hierarchies.  */
struct making
{
  const char *path;
  enum cgroup_mode mode;
  const struct cgroup_layout *layout;
  const struct cgroup_writes *writes;
};

/* One group on its way.  */
struct level
{
  int root;      /* of the hierarchy, borrowed */
  int fd;        /* -1: still at the root */
  size_t depth;  /* components done */
  unsigned made; /* how many of them, from the end, this process made */
};

static int check_path (const char *path, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  bool bad = path == NULL || path[0] != '/' || strlen (path) >= PATH_MAX || path[1] == '\0';

  for (const char *p = path; !bad && p != NULL && *p != '\0';)
    {
      size_t len = strcspn (++p, "/");
      bad = len == 0 || len > NAME_MAX || (len == 1 && p[0] == '.')
            || (len == 2 && p[0] == '.' && p[1] == '.') || memchr (p, '\n', len) != NULL;
      p += len;
    }
  if (bad)
    return error_set (err, -EINVAL,
                      "cgroup path %s: not an absolute path below the root, without empty "
                      "components, . and ..",
                      str_quote (path, quoted));
  return 0;
}

/* ---- cpuset v1: a new group has no cpus and no mems, and takes no process until it has.  */

static int copy_from_parent (int parent, int child, const char *file, bool made)
{
  cleanup_free char *own = NULL;
  cleanup_free char *theirs = NULL;
  int r = made ? 0 : path_read_knob (child, file, KNOB_MAX, &own, NULL);

  if (r < 0 || (!made && own[strspn (own, "\n")] != '\0'))
    return r;
  r = path_read_knob (parent, file, KNOB_MAX, &theirs, NULL);
  if (r < 0)
    return r;
  theirs[strcspn (theirs, "\n")] = '\0';
  return path_write_file (child, file, theirs, NULL);
}

static int inherit_cpuset (int parent, int child, bool made)
{
  int r = copy_from_parent (parent, child, "cpuset.cpus", made);

  return r < 0 ? r : copy_from_parent (parent, child, "cpuset.mems", made);
}

/* ---- cgroup v2: what a group has is what its parent hands out.  */

static bool needs_v2 (const struct making *m)
{
  for (size_t i = 0; i < m->writes->len; i++)
    if (m->layout->version[m->writes->list[i].controller] == CONTROLLER_V2)
      return true;
  return false;
}

static const struct
{
  int errnum;
  const char *meaning;
} enable_errors[] = {
  { EBUSY, " (the group has processes of its own)" },
  { EOPNOTSUPP, " (the group is threaded)" },
  { ENOENT, " (its own parent doesn't hand it out)" },
};

static int enable_controllers (int fd, const char *at, const struct making *m, struct error *err)
{
  cleanup_free char *available = NULL;
  cleanup_free char *enabled = NULL;
  char *save = NULL;
  int r;

  if (m->mode != CGROUP_V2 && !needs_v2 (m))
    return 0;
  r = path_read_knob (fd, "cgroup.controllers", KNOB_MAX, &available, err);
  if (r >= 0)
    r = path_read_knob (fd, "cgroup.subtree_control", KNOB_MAX, &enabled, err);
  if (r < 0)
    return r;
  for (char *name = strtok_r (available, " \n", &save); name != NULL;
       name = strtok_r (NULL, " \n", &save))
    {
      char word[64];
      const char *meaning = "";
      bool needed = writes_need_v2 (m->layout, m->writes, name);

      /* On a v2 host the rest is handed out too, as far as it can be, for later updates and for
         statistics.  On a hybrid one cgroup2 is somebody else's to arrange.  */
      if (list_has (enabled, " \n", name) || (!needed && m->mode != CGROUP_V2))
        continue;
      snprintf (word, sizeof (word), "+%s", name);
      r = path_write_file (fd, "cgroup.subtree_control", word, NULL);
      if (r >= 0 || !needed)
        continue;
      for (size_t i = 0; i < ARRAY_SIZE (enable_errors); i++)
        if (enable_errors[i].errnum == -r)
          meaning = enable_errors[i].meaning;
      return error_errno (err, -r, "enable the cgroup controller %s below %s%s", name, at, meaning);
    }
  return 0;
}

/* ---- one group */

static int here (const struct level *l) { return l->fd >= 0 ? l->fd : l->root; }

/* One component down.  Returns the errno without words: the caller knows the whole path.  */
static int descend (struct level *l, const char *name, bool cpuset)
{
  const int at = here (l);
  bool made = mkdirat (at, name, 0755) == 0;

  if (!made && errno != EEXIST)
    return -errno;
  cleanup_close int fd = openat (at, name, DIRECTORY);
  int r = fd < 0 ? -errno : cpuset ? inherit_cpuset (at, fd, made) : 0;
  if (r < 0)
    {
      if (made)
        unlinkat (at, name, AT_REMOVEDIR);
      return r;
    }
  l->made = made ? l->made + 1 : 0;
  l->depth++;
  cleanup_closep (&l->fd);
  l->fd = steal_fd (&fd);
  return 0;
}

/* Whether NAME in PARENT is the directory that is open as GROUP.  */
static bool is_still (int group, int parent, const char *name)
{
  struct stat ours, there;

  return fstat (group, &ours) == 0 && fstatat (parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0
         && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Takes the last MADE components of PATH, which FD is open on, away again.  They may be in use by
   others by now: then they stay.  */
static void undo (int fd, const char *path, unsigned made)
{
  cleanup_free char *rest = strdup (path);
  cleanup_close int cur = openat (fd, ".", DIRECTORY);

  while (rest != NULL && cur >= 0 && made-- > 0)
    {
      char *slash = strrchr (rest, '/');
      cleanup_close int parent = openat (cur, "..", DIRECTORY);
      if (slash == NULL || parent < 0)
        return;
      /* One of the same name that somebody else has made meanwhile is not ours to remove.  */
      if (is_still (cur, parent, slash + 1) && unlinkat (parent, slash + 1, AT_REMOVEDIR) < 0
          && errno != ENOENT)
        return;
      *slash = '\0';
      cleanup_closep (&cur);
      cur = steal_fd (&parent);
    }
}

static void undo_level (const struct level *l, const char *path)
{
  cleanup_free char *done = strdup (path);
  char *end = done;

  for (size_t i = 0; end != NULL && i < l->depth; i++)
    end += 1 + strcspn (end + 1, "/");
  if (end == NULL)
    return;
  *end = '\0';
  undo (l->fd, done, l->made);
}

void group_undo_parents (const struct cgroup *cg)
{
  for (size_t i = 0; i < cg->len; i++)
    if (cg->dirs[i].made > 1)
      undo (cg->dirs[i].fd, cg->dirs[i].path, cg->dirs[i].made);
}

void group_undo (const struct cgroup *cg)
{
  for (size_t i = 0; i < cg->len; i++)
    undo (cg->dirs[i].fd, cg->dirs[i].path, cg->dirs[i].made);
}

static int make_levels (const struct hierarchy *h, const struct making *m, struct level *l,
                        struct error *err)
{
  cleanup_free char *copy = strdup (m->path);
  bool v2 = h->controllers[0] == '\0';
  bool cpuset = list_has (h->controllers, ",", "cpuset");
  char *save = NULL;

  if (copy == NULL)
    return error_errno (err, ENOMEM, "make the cgroup %s%s", h->mountpoint, m->path);
  for (char *name = strtok_r (copy, "/", &save); name != NULL; name = strtok_r (NULL, "/", &save))
    {
      int r = v2 ? enable_controllers (here (l), h->mountpoint, m, err) : 0;
      if (r < 0)
        return r;
      r = descend (l, name, cpuset);
      if (r < 0)
        return error_errno (err, -r, "make the cgroup %s%s", h->mountpoint, m->path);
    }
  return 0;
}

static int check_existing (const struct level *l, const char *path, bool v2, struct error *err)
{
  cleanup_free char *type = NULL;
  cleanup_free pid_t *pids = NULL;
  struct cgroup_dir dir = { .controllers = "", .path = path, .fd = l->fd };
  struct cgroup alone = { .dirs = &dir, .len = 1 };
  size_t len;
  int r = cgroup_pids (&alone, &pids, &len, err);

  if (r < 0)
    return r;
  if (len > 0)
    return error_set (err, -EEXIST,
                      "cgroup %s exists already and has processes in it (%zu, one is %d)", path,
                      len, (int)pids[0]);
  if (!v2)
    return 0;
  r = path_read_file (l->fd, "cgroup.type", KNOB_MAX, &type, NULL, err);
  if (r < 0)
    return r;
  if (!list_has (type, "\n", "domain"))
    {
      type[strcspn (type, "\n")] = '\0';
      return error_set (err, -EOPNOTSUPP,
                        "cgroup %s exists already and is of type \"%s\", not domain", path, type);
    }
  return 0;
}

/* Makes the group in one hierarchy and adds it to CG.  */
static int make_group (const struct hierarchy *h, const struct making *m, struct cgroup *cg,
                       struct error *err)
{
  cleanup_free char *path = NULL;
  struct level l = { .root = h->fd, .fd = -1 };
  int r;

  if (asprintf (&path, "%s%s", h->mountpoint, m->path) < 0)
    {
      path = NULL;
      r = error_errno (err, ENOMEM, "make the cgroup %s", m->path);
    }
  else
    r = make_levels (h, m, &l, err);
  if (r >= 0 && l.made == 0)
    r = check_existing (&l, path, h->controllers[0] == '\0', err);
  if (r < 0)
    {
      undo_level (&l, m->path);
      cleanup_closep (&l.fd);
      return r;
    }
  return group_add (cg, h->controllers, path, steal_fd (&l.fd), l.made, err);
}

/* Another command may have removed a parent that it had made, right under us.  */
static int make_group_again (const struct hierarchy *h, const struct making *m, struct cgroup *cg,
                             struct error *err)
{
  int r = -ENOENT;

  for (unsigned i = 0; i < TRIES && (r == -ENOENT || r == -ENODEV); i++)
    r = make_group (h, m, cg, err);
  return r;
}

static bool may_be_left_out (const struct hierarchy *h, const struct making *m, int r)
{
  if (r != -EROFS && r != -EACCES && r != -EPERM)
    return false;
  /* Whether cgroup2 is needed was decided when a controller couldn't be handed out; without any
     group at all the caller fails.  */
  return h->controllers[0] == '\0' || !writes_need_v1 (m->layout, m->writes, h->controllers);
}

static int make_groups (const struct hierarchies *h, const struct making *m, struct cgroup *cg,
                        struct error *err)
{
  for (size_t i = 0; i < h->len; i++)
    {
      int r = make_group_again (&h->list[i], m, cg, err);
      if (r < 0 && !may_be_left_out (&h->list[i], m, r))
        return r;
    }
  if (cg->len == 0)
    return error_set (err, -EACCES, "make the cgroup %s: no cgroup hierarchy can be written",
                      m->path);
  return 0;
}

/* Nothing above them but the root of the mounts, which nobody freezes: this process would be in it.
 */
static bool all_new (const struct cgroup *cg, const char *path)
{
  unsigned levels = 0;

  for (const char *p = path; *p != '\0'; p++)
    levels += *p == '/';
  for (size_t i = 0; i < cg->len; i++)
    if (cg->dirs[i].made != levels)
      return false;
  return true;
}

/* A group that was left out although it's needed, or a frozen one, in which init would never run.
 */
static int check_groups (const struct making *m, const struct cgroup *cg, struct error *err)
{
  bool frozen = false;
  int r;

  if (needs_v2 (m) && group_find_v2 (cg) == NULL)
    return error_set (err, -EACCES,
                      "make the cgroup %s: linux.resources needs the cgroup v2 hierarchy, which "
                      "can't be written",
                      m->path);
  r = all_new (cg, m->path) ? 0 : cgroup_is_frozen (cg, &frozen, err);
  if (r >= 0 && frozen)
    r = error_set (err, -EBUSY, "make the cgroup %s: it, or a group above it, is frozen", m->path);
  return r;
}

int cgroup_create (const char *path, const struct oci_resources *needed, struct cgroup **ret,
                   struct error *err)
{
  cleanup_hierarchies struct hierarchies h = { 0 };
  cleanup_layout struct cgroup_layout layout = { 0 };
  cleanup_writes struct cgroup_writes writes = { 0 };
  struct making m = { .path = path, .layout = &layout, .writes = &writes };
  struct cgroup *cg;
  int r = check_path (path, err);

  if (r >= 0)
    r = hierarchies_find (&h, err);
  for (size_t i = 0; r >= 0 && i < h.len; i++)
    r = layout_add (&layout, h.list[i].controllers, h.list[i].fd, err);
  /* What this host can't apply fails here, before anything is made.  */
  if (r >= 0)
    r = cgroup_plan_writes (&layout, needed, &writes, err);
  if (r < 0)
    return r;

  cg = group_new (h.len);
  if (cg == NULL)
    return error_errno (err, ENOMEM, "make the cgroup %s", path);
  cg->mode = m.mode = h.mode;
  r = make_groups (&h, &m, cg, err);
  if (r >= 0)
    r = check_groups (&m, cg, err);
  if (r < 0)
    {
      group_undo (cg);
      cgroup_close (cg);
      return r;
    }
  *ret = cg;
  return 0;
}

/* The deepest directory of PATH that is there has to take another one.  */
static bool can_make_in (const struct hierarchy *h, const char *path)
{
  cleanup_free char *copy = strdup (path);
  cleanup_close int at = openat (h->fd, ".", DIRECTORY);
  char *save = NULL;

  if (copy == NULL || at < 0)
    return false;
  for (char *name = strtok_r (copy, "/", &save); name != NULL; name = strtok_r (NULL, "/", &save))
    {
      int next = openat (at, name, DIRECTORY);

      if (next < 0)
        break;
      cleanup_closep (&at);
      at = next;
    }
  return faccessat (at, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

bool cgroup_can_make (const char *path)
{
  cleanup_hierarchies struct hierarchies h = { 0 };

  if (hierarchies_find (&h, NULL) < 0)
    return false;
  for (size_t i = 0; i < h.len; i++)
    if (can_make_in (&h.list[i], path))
      return true;
  return false;
}
