/* SPDX-License-Identifier: Apache-2.0 */
#include "container/idmap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "linux/idmap.h"

struct id_range *idmap_ranges (const struct oci_id_mapping *maps, size_t n)
{
  struct id_range *ranges = calloc (n + 1, sizeof *ranges);
  for (size_t i = 0; ranges != NULL && i < n; i++)
    ranges[i] = (struct id_range){ maps[i].container_id, maps[i].host_id, maps[i].size };
  return ranges;
}

static int map_mount (const struct container_setup *setup, const struct plan_mount *m, int procfd,
                      struct error *err)
{
  cleanup_free struct id_range *uids = idmap_ranges (m->uid_mappings, m->uid_mappings_len);
  cleanup_free struct id_range *gids = idmap_ranges (m->gid_mappings, m->gid_mappings_len);
  const struct userns_maps maps = { uids, m->uid_mappings_len, gids, m->gid_mappings_len };
  if (uids == NULL || gids == NULL)
    return error_set (err, -ENOMEM, "out of memory for the maps of a mount");
  return mount_idmap (setup_descriptor (setup, m->descriptor), m->idmap_recursive, &maps, procfd,
                      m->destination, err);
}

int idmap_mounts (const struct container_setup *setup, int procfd, struct error *err)
{
  const struct plan *plan = setup->plan;
  int r = 0;
  for (size_t i = 0; r == 0 && i < plan->mounts_len; i++)
    if (plan->mounts[i].uid_mappings_len > 0)
      r = map_mount (setup, &plan->mounts[i], procfd, err);
  return r;
}
