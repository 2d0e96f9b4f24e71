/* SPDX-License-Identifier: Apache-2.0 */
/* What a container sees of its cgroups.  Runs in the parent, in the host's mount namespace, and
   needs CAP_SYS_ADMIN over it to clone the groups.  config.md "Mounts", cgroup_namespaces(7),
   open_tree(2).  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#define NAMED "name="

static void mount_free (struct cgroup_mount *m)
{
  free (m->name);
  free (m->fs_type);
  free (m->parameters);
  cleanup_closep (&m->tree);
  for (char **link = m->links; link != NULL && *link != NULL; link++)
    free (*link);
  free (m->links);
}

void cgroup_mounts_free (struct cgroup_mount *mounts, size_t n)
{
  for (size_t i = 0; mounts != NULL && i < n; i++)
    mount_free (&mounts[i]);
  free (mounts);
}

/* The directory's name, as every distribution has it: systemd looks for "systemd" and "unified". */
static const char *name_of (const struct cgroup *cg, const char *controllers)
{
  if (controllers[0] == '\0')
    return cg->mode == CGROUP_V2 ? "" : "unified";
  return str_has_prefix (controllers, NAMED) ? controllers + strlen (NAMED) : controllers;
}

/* One link for each controller of a hierarchy with several.  */
static int make_links (const char *name, char ***ret)
{
  cleanup_free char *copy = strdup (name);
  char *save = NULL;
  size_t n = 0;
  char **links;

  if (copy == NULL)
    return -ENOMEM;
  links = calloc (strlen (name) + 2, sizeof (*links));
  *ret = links; /* the caller frees it in any case */
  if (links == NULL)
    return -ENOMEM;
  if (strchr (name, ',') == NULL)
    return 0;
  for (char *c = strtok_r (copy, ",", &save); c != NULL; c = strtok_r (NULL, ",", &save))
    if ((links[n++] = strdup (c)) == NULL)
      return -ENOMEM;
  return 0;
}

static int make_mount (const struct cgroup *cg, const struct cgroup_dir *dir,
                       bool private_namespace, struct cgroup_mount *m, struct error *err)
{
  const char *name = name_of (cg, dir->controllers);
  long tree;

  m->name = strdup (name);
  m->fs_type = strdup (dir->controllers[0] == '\0' ? "cgroup2" : "cgroup");
  m->parameters = strdup (dir->controllers);
  if (m->name == NULL || m->fs_type == NULL || m->parameters == NULL
      || make_links (name, &m->links) < 0)
    return error_errno (err, ENOMEM, "prepare the mount of the cgroup %s", dir->path);
  if (private_namespace)
    return 0;
  tree = syscall (SYS_open_tree, dir->fd, "",
                  AT_EMPTY_PATH | OPEN_TREE_CLONE | (unsigned)OPEN_TREE_CLOEXEC);
  if (tree < 0)
    return error_errno (err, errno, "clone the cgroup %s for the container's view", dir->path);
  m->tree = (int)tree;
  return 0;
}

int cgroup_mounts (const struct cgroup *cg, bool private_namespace, struct cgroup_mount **ret,
                   size_t *ret_len, struct error *err)
{
  struct cgroup_mount *mounts = calloc (cg->len + 1, sizeof (*mounts));

  if (mounts == NULL)
    return error_errno (err, ENOMEM, "prepare the mounts of the cgroups");
  for (size_t i = 0; i < cg->len; i++)
    mounts[i].tree = -1;
  for (size_t i = 0; i < cg->len; i++)
    {
      int r = make_mount (cg, &cg->dirs[i], private_namespace, &mounts[i], err);
      if (r < 0)
        {
          cgroup_mounts_free (mounts, cg->len);
          return r;
        }
    }
  *ret = mounts;
  *ret_len = cg->len;
  return 0;
}
