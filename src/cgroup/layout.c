/* SPDX-License-Identifier: Apache-2.0 */
/* Which controller is where: in a v1 hierarchy, in cgroup2, or nowhere.  Runs in the parent; reads
   cgroup.controllers of cgroup2, needs no privilege.  */
#include "cgroup/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

#define CONTROLLERS_MAX 65536

const char *const controller_v1_names[CONTROLLER_COUNT] = {
  [CONTROLLER_CPU] = "cpu",         [CONTROLLER_CPUSET] = "cpuset",
  [CONTROLLER_MEMORY] = "memory",   [CONTROLLER_PIDS] = "pids",
  [CONTROLLER_BLKIO] = "blkio",     [CONTROLLER_HUGETLB] = "hugetlb",
  [CONTROLLER_NET_CLS] = "net_cls", [CONTROLLER_NET_PRIO] = "net_prio",
  [CONTROLLER_RDMA] = "rdma",
};

const char *const controller_v2_names[CONTROLLER_COUNT] = {
  [CONTROLLER_CPU] = "cpu",   [CONTROLLER_CPUSET] = "cpuset", [CONTROLLER_MEMORY] = "memory",
  [CONTROLLER_PIDS] = "pids", [CONTROLLER_BLKIO] = "io",      [CONTROLLER_HUGETLB] = "hugetlb",
  [CONTROLLER_RDMA] = "rdma",
};

static int add_v2 (struct cgroup_layout *layout, int fd, struct error *err)
{
  int r = path_read_knob (fd, "cgroup.controllers", CONTROLLERS_MAX, &layout->v2_controllers, err);

  if (r < 0)
    return r;
  layout->version[CONTROLLER_UNIFIED] = CONTROLLER_V2;
  for (size_t c = 0; c < CONTROLLER_COUNT; c++)
    if (controller_v2_names[c] != NULL && layout->version[c] == CONTROLLER_ABSENT
        && list_has (layout->v2_controllers, " \n", controller_v2_names[c]))
      layout->version[c] = CONTROLLER_V2;
  return 0;
}

int layout_add (struct cgroup_layout *layout, const char *controllers, int fd, struct error *err)
{
  if (controllers[0] == '\0')
    return add_v2 (layout, fd, err);
  for (size_t c = 0; c < CONTROLLER_COUNT; c++)
    if (controller_v1_names[c] != NULL && list_has (controllers, ",", controller_v1_names[c]))
      layout->version[c] = CONTROLLER_V1;
  return 0;
}

int layout_of (const struct cgroup *cg, struct cgroup_layout *ret, struct error *err)
{
  cleanup_layout struct cgroup_layout layout = { 0 };

  for (size_t i = 0; i < cg->len; i++)
    {
      int r = layout_add (&layout, cg->dirs[i].controllers, cg->dirs[i].fd, err);
      if (r < 0)
        return r;
    }
  *ret = layout;
  layout.v2_controllers = NULL;
  return 0;
}

void layout_free (struct cgroup_layout *layout)
{
  free (layout->v2_controllers);
  layout->v2_controllers = NULL;
}

bool writes_need_v1 (const struct cgroup_layout *layout, const struct cgroup_writes *writes,
                     const char *controllers)
{
  for (size_t i = 0; i < writes->len; i++)
    {
      enum controller c = writes->list[i].controller;
      if (layout->version[c] == CONTROLLER_V1
          && list_has (controllers, ",", controller_v1_names[c]))
        return true;
    }
  return false;
}

bool writes_need_v2 (const struct cgroup_layout *layout, const struct cgroup_writes *writes,
                     const char *name)
{
  size_t len = strlen (name);

  for (size_t i = 0; i < writes->len; i++)
    {
      enum controller c = writes->list[i].controller;
      const char *file = writes->list[i].file;
      if (layout->version[c] != CONTROLLER_V2)
        continue;
      if (c != CONTROLLER_UNIFIED && strcmp (controller_v2_names[c], name) == 0)
        return true;
      if (c == CONTROLLER_UNIFIED && strncmp (file, name, len) == 0 && file[len] == '.')
        return true;
    }
  return false;
}
