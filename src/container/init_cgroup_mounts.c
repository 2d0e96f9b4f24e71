/* SPDX-License-Identifier: Apache-2.0 */
/* A mount of type cgroup: on v2 the hierarchy, on v1 and hybrid a tmpfs with one directory a
   hierarchy, as engines and programs expect it.  Runs in init.  */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/init_steps.h"
#include "linux/mounts.h"

#define MAX_PARAMETERS 16

/* A mount made inside the container's own cgroup namespace has that namespace's root as its root.
   "cpu,cpuacct" are two parameters to fsconfig(2).  */
static int new_hierarchy (const struct cgroup_mount *c, int *ret_tree, struct error *err)
{
  cleanup_free char *copy = strdup (c->parameters ? c->parameters : "");
  char *parameters[MAX_PARAMETERS];
  size_t n = 0;
  char *at = copy, *word;
  if (copy == NULL)
    return error_set (err, -ENOMEM, "out of memory for the cgroup mount");
  while (n < MAX_PARAMETERS && (word = strsep (&at, ",")) != NULL)
    if (word[0] != '\0')
      parameters[n++] = word;
  return mount_new_fs (c->fs_type, "cgroup", parameters, n, 0, ret_tree, err);
}

static int attach_hierarchy (const struct cgroup_mount *c, uint64_t attributes, int target,
                             struct error *err)
{
  cleanup_close int made = -1;
  int r = c->tree < 0 ? new_hierarchy (c, &made, err) : 0;
  int tree = c->tree < 0 ? made : c->tree;
  if (r == 0)
    r = mount_set (tree, true, attributes, 0, MS_PRIVATE, c->name, err);
  return r < 0 ? r : mount_attach (tree, target, c->name, err);
}

/* By mount(2), one call for nine of the new ones, and there are ten hierarchies: no judged source
   is concerned, and the target lies in the working directory, a tmpfs that was made a moment ago
   and that nobody else has seen.  Attributes come once for all of them.  */
static int mount_hierarchy (const struct cgroup_mount *c, struct error *err)
{
  return mount ("cgroup", c->name, c->fs_type, 0, c->parameters) < 0
             ? error_errno (err, errno, "mount the cgroup hierarchy %s", c->name)
             : 0;
}

static int attach_clone (const struct cgroup_mount *c, int dir, struct error *err)
{
  cleanup_close int target = openat (dir, c->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (target < 0)
    return error_errno (err, errno, "open the cgroup directory %s", c->name);
  return attach_hierarchy (c, 0, target, err);
}

static int add_hierarchy (const struct cgroup_mount *c, int dir, struct error *err)
{
  if (mkdirat (dir, c->name, 0755) < 0)
    return error_errno (err, errno, "make the cgroup directory %s", c->name);
  int r = c->tree < 0 ? mount_hierarchy (c, err) : attach_clone (c, dir, err);
  for (size_t i = 0; r == 0 && c->links != NULL && c->links[i] != NULL; i++)
    if (symlinkat (c->name, dir, c->links[i]) < 0)
      r = error_errno (err, errno, "make the cgroup link %s", c->links[i]);
  return r;
}

int init_mount_cgroup (struct init *init, const struct plan_mount *m, int target, struct error *err)
{
  const struct container_setup *setup = init->setup;
  cleanup_close int dir = -1;
  char mode[] = "mode=755", *parameters[] = { mode };
  if (setup->cgroup_mode == CGROUP_V2)
    return setup->cgroup_mounts_len == 0
               ? error_set (err, -EINVAL, "%s: there is no cgroup to mount", m->pointer)
               : attach_hierarchy (&setup->cgroup_mounts[0], m->attr_set, target, err);
  int r = mount_new_fs ("tmpfs", "cgroup", parameters, 1,
                        m->attr_set & ~(uint64_t)MOUNT_ATTR_RDONLY, &dir, err);
  if (r == 0) /* before what goes into it: older kernels attach only to what is attached */
    r = mount_attach (dir, target, m->destination, err);
  if (r == 0 && fchdir (dir) < 0)
    r = error_errno (err, errno, "change directory to %s", m->destination);
  for (size_t i = 0; r == 0 && i < setup->cgroup_mounts_len; i++)
    r = add_hierarchy (&setup->cgroup_mounts[i], dir, err);
  return r < 0 ? r : mount_set (dir, true, m->attr_set, 0, MS_PRIVATE, m->destination, err);
}
