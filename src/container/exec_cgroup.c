/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the choice of the groups of a process that joins a container: never out of the container's
   own. Runs in the parent, as an owner of the hierarchies.  */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/exec_steps.h"
#include "linux/procfs.h"

#define CGROUP_FILE_MAX (64 * 1024)

/* No component that climbs; what else it may be the kernel decides, by its not being there.  */
static int check_below (const char *below, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  const char *at = below;
  while (*at != '\0')
    {
      size_t n = strcspn (at, "/");
      if ((n == 2 && strncmp (at, "..", 2) == 0) || (n == 1 && at[0] == '.'))
        return error_set (err, -EPERM,
                          "--cgroup %s would lead out of the container's own group: name a path "
                          "below it, without \".\" and \"..\"",
                          str_quote (below, quoted));
      at += n;
      at += strspn (at, "/");
    }
  return 0;
}

/* The part of init's path in cgroup v2 that lies below the container's group, or NULL.  */
static char *init_below (const struct container *c)
{
  const char *own = c->record->plan->cgroup->path;
  cleanup_free char *text = NULL;
  char path[64];
  size_t len;
  snprintf (path, sizeof path, "%d/cgroup", (int)c->record->pid);
  if (procfs_read (c->procfd, path, CGROUP_FILE_MAX, &text, &len, NULL) < 0)
    return NULL;
  for (char *line = text; line != NULL && *line != '\0';)
    {
      char *end = strchr (line, '\n');
      if (end != NULL)
        *end = '\0';
      if (str_has_prefix (line, "0::") && path_is_within (line + 3, own))
        return strdup (line + 3 + strlen (own));
      line = end != NULL ? end + 1 : NULL;
    }
  return NULL;
}

struct group_names
{
  const char **controllers;
  char **paths;
  size_t len;
};

static void group_names_free (struct group_names *names)
{
  for (size_t i = 0; names->paths != NULL && i < names->len; i++)
    free (names->paths[i]);
  free (names->paths);
  free (names->controllers);
}

/* A group of v1 need not be there in each hierarchy: in the others the process goes to the
   container's own.  It has to be in one at least, or the name is a mistake.  */
static bool use_own_where_missing (const struct container *c, struct group_names *names)
{
  bool found = false;
  for (size_t i = 0; i < names->len; i++)
    if (access (names->paths[i], F_OK) == 0)
      found = true;
    else
      names->paths[i][strlen (c->record->cgroups[i].path)] = '\0';
  return found || names->len == 0;
}

static int make_names (const struct container *c, const char *below, struct group_names *names)
{
  size_t len = c->record->cgroups_len;
  cleanup_free char *own = below == NULL ? init_below (c) : NULL;
  names->controllers = calloc (len + 1, sizeof *names->controllers);
  names->paths = calloc (len + 1, sizeof *names->paths);
  if (names->controllers == NULL || names->paths == NULL)
    return -ENOMEM;
  for (; names->len < len; names->len++)
    {
      const struct record_hierarchy *h = &c->record->cgroups[names->len];
      const char *rest = below != NULL ? below : h->controllers[0] == '\0' && own ? own : "";
      rest += strspn (rest, "/");
      names->controllers[names->len] = h->controllers;
      if (asprintf (&names->paths[names->len], "%s%s%s", h->path, *rest ? "/" : "", rest) < 0)
        {
          names->paths[names->len] = NULL;
          return -ENOMEM;
        }
    }
  return 0;
}

/* A group that isn't there would leave the process where the caller is.  */
static int check_complete (const struct cgroup *cgroup, const struct group_names *names,
                           struct error *err)
{
  const struct cgroup_dir *dirs;
  size_t n = cgroup_dirs (cgroup, &dirs);
  char quoted[STR_QUOTE_MAX];
  for (size_t i = 0; i < names->len; i++)
    if (i >= n || !str_equal (dirs[i].path, names->paths[i]))
      return error_set (err, -ENOENT, "the cgroup %s for the process does not exist",
                        str_quote (names->paths[i], quoted));
  return 0;
}

int exec_cgroup_open (const struct container *c, const char *below, struct cgroup **ret,
                      struct error *err)
{
  __attribute__ ((cleanup (group_names_free))) struct group_names names = { 0 };
  struct cgroup *cgroup = NULL;
  char quoted[STR_QUOTE_MAX];
  int r = below != NULL ? check_below (below, err) : 0;
  if (r < 0)
    return r;
  if (make_names (c, below, &names) < 0)
    return error_set (err, -ENOMEM, "out of memory for the cgroups of the process");
  if (below != NULL && !use_own_where_missing (c, &names))
    return error_set (err, -ENOENT, "--cgroup %s: the container's group has no such group below it",
                      str_quote (below, quoted));
  r = cgroup_open (names.controllers, (const char *const *)names.paths, names.len, &cgroup, err);
  if (r < 0)
    return r;
  r = check_complete (cgroup, &names, err);
  if (r < 0)
    cgroup_close (cgroup);
  else
    *ret = cgroup;
  return r;
}
