/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the mounted hierarchies.  /proc/self/cgroup says which there are, /proc/self/mountinfo
   where they are mounted.  Runs in the parent, in the host's mount namespace; needs no privilege.
   cgroups(7), proc(5).  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define PROC_FILE_MAX (16 * 1024 * 1024)

/* One line of mountinfo, as far as it matters here.  The strings are parts of the line.  */
struct mount_line
{
  char *root;
  char *mountpoint;
  char *fs_type;
  char *options; /* of the super block */
};

/* "\040" and its like, in place (proc(5)).  */
static void decode_octal (char *s)
{
  char *to = s;

  for (; *s != '\0'; s++, to++)
    {
      if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0'
          && s[3] <= '7')
        {
          *to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
          s += 3;
        }
      else
        *to = *s;
    }
  *to = '\0';
}

static bool split_mount_line (char *line, struct mount_line *ret)
{
  char *save = NULL;
  char *before[6], *after[3];

  for (size_t i = 0; i < ARRAY_SIZE (before); i++)
    if ((before[i] = strtok_r (i == 0 ? line : NULL, " ", &save)) == NULL)
      return false;
  /* Optional fields up to a lone "-".  */
  for (char *word = strtok_r (NULL, " ", &save); word == NULL || strcmp (word, "-") != 0;
       word = strtok_r (NULL, " ", &save))
    if (word == NULL)
      return false;
  for (size_t i = 0; i < ARRAY_SIZE (after); i++)
    if ((after[i] = strtok_r (NULL, " ", &save)) == NULL)
      return false;
  decode_octal (before[3]);
  decode_octal (before[4]);
  *ret = (struct mount_line){
    .root = before[3], .mountpoint = before[4], .fs_type = after[0], .options = after[2]
  };
  return true;
}

/* A v1 mount belongs to a hierarchy when its options have each of the controllers.  */
static bool mount_has_all (const struct mount_line *m, const char *controllers)
{
  cleanup_free char *copy = strdup (controllers);
  char *save = NULL;

  if (copy == NULL)
    return false;
  for (char *c = strtok_r (copy, ",", &save); c != NULL; c = strtok_r (NULL, ",", &save))
    if (!list_has (m->options, ",", c))
      return false;
  return true;
}

static bool mount_shows (const struct mount_line *m, const char *controllers)
{
  if (controllers[0] == '\0')
    return strcmp (m->fs_type, "cgroup2") == 0;
  return strcmp (m->fs_type, "cgroup") == 0 && mount_has_all (m, controllers);
}

/* *RET_MOUNTPOINT is NULL when no mount shows the hierarchy.  */
static int find_mount (const char *mountinfo, const char *controllers, char **ret_mountpoint)
{
  cleanup_free char *copy = strdup (mountinfo);
  cleanup_free char *found = NULL;
  char *save = NULL;
  bool found_root = false;

  if (copy == NULL)
    return -ENOMEM;
  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      struct mount_line m;

      if (!split_mount_line (line, &m) || !mount_shows (&m, controllers))
        continue;
      bool root = strcmp (m.root, "/") == 0;
      if (found != NULL && (found_root || !root))
        continue;
      free (found);
      found = strdup (m.mountpoint);
      if (found == NULL)
        return -ENOMEM;
      found_root = root;
    }
  *ret_mountpoint = steal_ptr (&found);
  return 0;
}

static int add_hierarchy (struct hierarchies *h, const char *controllers, const char *mountinfo)
{
  cleanup_free char *mountpoint = NULL;
  cleanup_free char *own = strdup (controllers);
  int r = own == NULL ? -ENOMEM : find_mount (mountinfo, controllers, &mountpoint);

  if (r < 0 || mountpoint == NULL)
    return r;
  struct hierarchy *list = realloc (h->list, (h->len + 1) * sizeof (*list));
  if (list == NULL)
    return -ENOMEM;
  h->list = list;
  list[h->len++] = (struct hierarchy){
    .controllers = steal_ptr (&own),
    .mountpoint = steal_ptr (&mountpoint),
    .fd = -1,
  };
  return 0;
}

int hierarchies_parse (const char *cgroup, const char *mountinfo, struct hierarchies *ret,
                       struct error *err)
{
  cleanup_hierarchies struct hierarchies h = { 0 };
  cleanup_free char *copy = strdup (cgroup);
  char *save = NULL;
  bool v1 = false, v2 = false;

  if (copy == NULL)
    return error_errno (err, ENOMEM, "find the cgroup hierarchies");
  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      /* ID:CONTROLLERS:PATH.  A v1 hierarchy with neither controllers nor name can't be told from
         others and holds no container.  */
      char *controllers = strchr (line, ':');
      char *path = controllers == NULL ? NULL : strchr (controllers + 1, ':');
      if (path == NULL)
        continue;
      *controllers++ = '\0';
      *path = '\0';
      bool is_v2 = strcmp (line, "0") == 0 && controllers[0] == '\0';
      if (!is_v2 && controllers[0] == '\0')
        continue;
      size_t before = h.len;
      if (add_hierarchy (&h, controllers, mountinfo) < 0)
        return error_errno (err, ENOMEM, "find the cgroup hierarchies");
      v1 |= h.len > before && !is_v2;
      v2 |= h.len > before && is_v2;
    }
  h.mode = v1 && v2 ? CGROUP_HYBRID : v2 ? CGROUP_V2 : CGROUP_V1;
  *ret = h;
  h = (struct hierarchies){ 0 };
  return 0;
}

static int open_hierarchy (struct hierarchy *h, struct error *err)
{
  bool v2 = h->controllers[0] == '\0';
  struct statfs fs;
  cleanup_close int fd = open (h->mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0 || fstatfs (fd, &fs) < 0)
    return error_errno (err, errno, "open the cgroup hierarchy %s", h->mountpoint);
  /* Something else may be mounted over it.  */
  if (fs.f_type != (v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
    return error_set (err, -EINVAL,
                      "open the cgroup hierarchy %s: another file system is mounted over it",
                      h->mountpoint);
  h->fd = steal_fd (&fd);
  return 0;
}

typedef int (*read_fn) (int, size_t, const char *, char **, size_t *, struct error *);

static int read_proc (const char *path, read_fn read_file, char **ret, struct error *err)
{
  cleanup_close int fd = open (path, O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return error_errno (err, errno, "open %s", path);
  return read_file (fd, PROC_FILE_MAX, path, ret, NULL, err);
}

int hierarchies_find (struct hierarchies *ret, struct error *err)
{
  cleanup_free char *cgroup = NULL;
  cleanup_free char *mountinfo = NULL;
  cleanup_hierarchies struct hierarchies h = { 0 };
  int r = read_proc ("/proc/self/cgroup", fd_read_knob, &cgroup, err);

  if (r >= 0)
    r = read_proc ("/proc/self/mountinfo", fd_read_all, &mountinfo, err);
  if (r >= 0)
    r = hierarchies_parse (cgroup, mountinfo, &h, err);
  for (size_t i = 0; r >= 0 && i < h.len; i++)
    r = open_hierarchy (&h.list[i], err);
  if (r < 0)
    return r;
  if (h.len == 0)
    return error_set (err, -ENOENT, "find the cgroup hierarchies: none is mounted");
  *ret = h;
  h = (struct hierarchies){ 0 };
  return 0;
}

void hierarchies_free (struct hierarchies *h)
{
  int fds[HIERARCHIES_AT_ONCE];
  size_t n = 0;

  for (size_t i = 0; i < h->len; i++)
    {
      free (h->list[i].controllers);
      free (h->list[i].mountpoint);
      fds[n++] = h->list[i].fd;
      if (n == ARRAY_SIZE (fds) || i + 1 == h->len)
        {
          fd_close_many (fds, n);
          n = 0;
        }
    }
  free (h->list);
  *h = (struct hierarchies){ 0 };
}
