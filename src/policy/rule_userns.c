/* SPDX-License-Identifier: Apache-2.0 */
/* Rule userns.mapping: a user namespace is a barrier only if its ids are nobody's on the host.
   Pure code.  */
#include "policy/internal.h"

/* Host ids that no container may have: root, and what means "unchanged" or "unmapped".  Rootless,
   id 0 of the parent namespace is the caller, who may use himself.  */
static const char *range_problem (const struct evaluation *ev, const struct oci_id_mapping *map)
{
  uint64_t host_end = (uint64_t)map->host_id + map->size;
  uint64_t container_end = (uint64_t)map->container_id + map->size;

  if (!map->has_size || map->size == 0 || !map->has_host_id || !map->has_container_id)
    return "is not a range";
  if (host_end > UINT32_MAX || container_end > UINT32_MAX)
    return "goes beyond the last id";
  if (map->host_id == 0 && !facts_are_rootless (ev->facts))
    return "includes the host's root";
  return NULL;
}

static void check_maps (struct evaluation *ev, const struct oci_id_mapping *maps, size_t len,
                        const char *name)
{
  for (size_t i = 0; i < len; i++)
    {
      const char *problem = range_problem (ev, &maps[i]);
      struct finding *f = NULL;

      if (problem != NULL)
        f = ev_report (ev, RULE_USERNS_MAPPING, ACTION_REJECT,
                       ev_printf (ev, "/linux/%s/%zu", name, i), "the mapping of host id %u %s",
                       maps[i].host_id, problem);
      ev_fix (ev, f, "map a range of sub-ids (subuid(5)), for example with userns-remap");
    }
}

static void check_mapped (struct evaluation *ev)
{
  const struct oci_user *user = ev->process->user;
  bool mapped = config_host_uid (ev->config, user->uid) != UINT32_MAX
                && config_host_gid (ev->config, user->gid) != UINT32_MAX;

  for (size_t i = 0; i < user->additional_gids_len; i++)
    mapped &= config_host_gid (ev->config, user->additional_gids[i]) != UINT32_MAX;
  if (!mapped)
    ev_report (ev, RULE_USERNS_MAPPING, ACTION_REJECT, ev_process (ev, "/user"),
               "the process has an id that its user namespace doesn't map");
}

void check_userns (struct evaluation *ev)
{
  const struct oci_linux *linux = ev->config->linux;
  const struct oci_namespace *user = namespace_entry (ev->config, "user");

  if (user == NULL)
    {
      if (linux->uid_mappings_len > 0 || linux->gid_mappings_len > 0)
        ev_report (ev, RULE_USERNS_MAPPING, ACTION_REJECT, "/linux/namespaces",
                   "id mappings are given without a user namespace");
      return;
    }
  if (user->path != NULL && linux->uid_mappings_len == 0 && linux->gid_mappings_len == 0)
    return; /* namespace.entry says that the maps are not those of the namespace */
  if (linux->uid_mappings_len == 0 && linux->gid_mappings_len == 0)
    {
      struct finding *f = ev_report (ev, RULE_USERNS_MAPPING, ACTION_REJECT, "/linux/uidMappings",
                                     "a user namespace without maps has the host's ids, root too");
      ev_fix (ev, f, "map a range of sub-ids (subuid(5)), for example with userns-remap");
      return;
    }
  check_maps (ev, linux->uid_mappings, linux->uid_mappings_len, "uidMappings");
  check_maps (ev, linux->gid_mappings, linux->gid_mappings_len, "gidMappings");
  check_mapped (ev);
}
