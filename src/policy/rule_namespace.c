/* SPDX-License-Identifier: Apache-2.0 */
/* Rules namespace.* and userns.mapping.  A namespace is judged by the inode of the opened file,
   never by its path: /proc/PID/ns/net of a host-network pod looks like any other.  Pure code.  */
#include <string.h>

#include "policy/internal.h"
#include "spec/names.h"

/* The namespaces that a container must have of its own, and what asks for the host's.  */
static const struct
{
  const char *type;
  const char *what;
  const char *fix;
} required[] = {
  { "pid", "sees and signals the host's processes",
    "remove --pid host (Kubernetes: hostPID: false)" },
  { "network", "reaches the host's interfaces, loopback services and abstract sockets",
    "remove --network host (Kubernetes: hostNetwork: false)" },
  { "ipc", "reaches the host's shared memory and queues",
    "remove --ipc host (Kubernetes: hostIPC: false)" },
  { "uts", "shares the host's name", "remove --uts host" },
  { "mount", "would work in the host's mount table", "give it a mount namespace of its own" },
};

static bool namespace_granted (const struct evaluation *ev, const char *type, const char *of)
{
  struct grant_query query = { .kind = "namespace", .name = type };
  const struct policy_grant *grant = NULL;

  while ((grant = grant_next (ev->policy, &query, grant)) != NULL)
    if (str_equal (grant->of, of))
      return true;
  return false;
}

static void report_host (struct evaluation *ev, size_t row, const char *pointer, const char *how)
{
  struct finding *f;

  if (namespace_granted (ev, required[row].type, "host"))
    return;
  f = ev_report (ev, RULE_NAMESPACE_HOST, ACTION_REJECT, pointer, "%s: the container %s", how,
                 required[row].what);
  ev_fix (ev, f, "%s", required[row].fix);
}

static void check_required (struct evaluation *ev)
{
  for (size_t row = 0; row < ARRAY_SIZE (required); row++)
    {
      const struct oci_linux *linux = ev->config->linux;

      if (namespace_entry (ev->config, required[row].type) == NULL)
        report_host (ev, row, "/linux/namespaces",
                     ev_printf (ev, "no %s namespace of its own", required[row].type));
      for (size_t i = 0; i < linux->namespaces_len; i++)
        {
          char *pointer = ev_printf (ev, "/linux/namespaces/%zu/path", i);
          const struct fact_namespace *ns;

          if (linux->namespaces[i].path == NULL
              || !str_equal (linux->namespaces[i].type, required[row].type))
            continue;
          ns = fact_namespace_find (ev->facts, pointer);
          if (ns == NULL || ns->error != NULL || !ns->has_ino || !ns->has_dev)
            continue; /* namespace.entry says so */
          if (fact_namespace_is_host (ev->facts, ns, required[row].type) > 0)
            report_host (
                ev, row, pointer,
                ev_printf (ev, "the %s namespace joined is the host's", required[row].type));
        }
    }
}

/* ---- entries ---- */

static bool maps_equal (const struct oci_id_mapping *maps, size_t len,
                        const struct fact_id_range *ranges, size_t ranges_len)
{
  if (len != ranges_len)
    return false;
  for (size_t i = 0; i < len; i++)
    {
      size_t k = 0;

      while (k < ranges_len
             && (maps[i].container_id != ranges[k].inside || maps[i].host_id != ranges[k].outside
                 || maps[i].size != ranges[k].count))
        k++;
      if (k == ranges_len)
        return false;
    }
  return true;
}

/* The rules that ask whose ids a container has read linux.uidMappings: those of a joined namespace
   have to be the namespace's own.  */
static bool maps_are_those (const struct oci_linux *linux, const struct fact_namespace *ns)
{
  return ns->has_uid_map && ns->has_gid_map
         && maps_equal (linux->uid_mappings, linux->uid_mappings_len, ns->uid_map, ns->uid_map_len)
         && maps_equal (linux->gid_mappings, linux->gid_mappings_len, ns->gid_map, ns->gid_map_len);
}

/* What is wrong with a joined namespace, or NULL.  */
static char *entry_problem (struct evaluation *ev, const struct oci_namespace *entry,
                            const char *pointer)
{
  const struct fact_namespace *ns = fact_namespace_find (ev->facts, pointer);
  char quoted[STR_QUOTE_MAX];

  if (str_equal (entry->type, "mount"))
    return ev_printf (ev, "a mount namespace can't be joined");
  str_quote (entry->path, quoted);
  if (ns == NULL)
    return ev_printf (ev, "%s was not looked at", quoted);
  if (ns->error != NULL)
    return ev_printf (ev, "%s can't be opened (%s)", quoted, ns->error);
  if (!ns->has_nsfs || !ns->nsfs || !ns->has_dev || !ns->has_ino)
    return ev_printf (ev, "%s is not a namespace file", quoted);
  if (!str_equal (ns->kind, entry->type))
    return ev_printf (ev, "%s is a namespace of another type", quoted);
  if (fact_namespace_is_host (ev->facts, ns, entry->type) < 0)
    return ev_printf (ev, "whether %s is the host's namespace can't be told", quoted);
  if (!str_equal (entry->type, "user"))
    return NULL;
  if (fact_namespace_is_host (ev->facts, ns, "user") > 0)
    return ev_printf (ev, "%s is the host's user namespace", quoted);
  if (!maps_are_those (ev->config->linux, ns))
    return ev_printf (ev,
                      "the user namespace %s has other maps than linux.uidMappings and "
                      "linux.gidMappings say",
                      quoted);
  return NULL;
}

static void check_entries (struct evaluation *ev)
{
  const struct oci_linux *linux = ev->config->linux;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < linux->namespaces_len; i++)
    {
      const struct oci_namespace *entry = &linux->namespaces[i];
      char *pointer = ev_printf (ev, "/linux/namespaces/%zu/type", i);
      char *problem = NULL;

      if (entry->type == NULL || namespace_flag (entry->type) == 0)
        ev_report (ev, RULE_NAMESPACE_ENTRY, ACTION_REJECT, pointer, "unknown namespace type %s",
                   str_quote (entry->type, quoted));
      else if (namespace_entry (ev->config, entry->type) != entry)
        ev_report (ev, RULE_NAMESPACE_ENTRY, ACTION_REJECT, pointer,
                   "the %s namespace is listed twice", entry->type);
      if (entry->path == NULL || entry->type == NULL)
        continue;
      pointer = ev_printf (ev, "/linux/namespaces/%zu/path", i);
      problem = entry_problem (ev, entry, pointer);
      if (problem != NULL)
        ev_report (ev, RULE_NAMESPACE_ENTRY, ACTION_REJECT, pointer, "%s", problem);
    }
}

/* ---- foreign ones ---- */

/* Where engines keep the network namespaces that they make, besides their data roots.  */
static const char *const network_places[] = {
  "/run/netns/*",
  "/run/docker/netns/*",
  "/run/user/*/netns/*",
  "/run/*/netns/*",
};

static bool is_engine_network (const struct evaluation *ev, const struct fact_namespace *ns)
{
  const struct fact_host *host = ev->facts->host;

  if (!str_equal (ns->kind, "network") || ns->canonical == NULL
      || !fact_chain_trusted (ev->facts, ns->chain, ns->chain_len, 0))
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (network_places); i++)
    if (path_glob_matches (network_places[i], ns->canonical))
      return true;
  for (size_t i = 0; host != NULL && i < host->engine_roots_len; i++)
    if (path_is_within (ns->canonical, host->engine_roots[i]))
      return true;
  return false;
}

const char *policy_pod (const struct oci_map *annotations)
{
  static const char *const keys[] = {
    "io.kubernetes.cri.sandbox-id",
    "io.kubernetes.cri-o.SandboxID",
  };

  for (size_t k = 0; k < ARRAY_SIZE (keys); k++)
    for (size_t i = 0; i < annotations->len; i++)
      if (str_equal (annotations->keys[i], keys[k]))
        return annotations->values[i];
  return NULL;
}

static const struct fact_recorded *find_recorded (const struct facts *facts,
                                                  const struct fact_namespace *ns)
{
  for (size_t i = 0; i < facts->recorded_len; i++)
    {
      const struct fact_recorded *r = &facts->recorded[i];

      if (r->has_ino && r->has_dev && r->ino == ns->ino && r->dev == ns->dev)
        return r;
    }
  return NULL;
}

static void check_foreign_entry (struct evaluation *ev, const struct fact_namespace *ns,
                                 const char *type, const char *pointer)
{
  const struct fact_recorded *recorded = find_recorded (ev->facts, ns);
  const char *pod = policy_pod (&ev->config->annotations);
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (is_engine_network (ev, ns))
    return;
  if (recorded != NULL
      && namespace_granted (ev, type, ev_printf (ev, "container:%s", recorded->id)))
    return;
  if (recorded != NULL && pod != NULL && str_equal (recorded->pod, pod))
    {
      if (str_equal (type, "pid"))
        ev_report (ev, RULE_NAMESPACE_FOREIGN, ACTION_WARN, pointer,
                   "the pid namespace is shared in the pod: files of the other containers can be "
                   "reached through /proc");
      return;
    }
  f = ev_report (ev, RULE_NAMESPACE_FOREIGN, ACTION_REJECT, pointer,
                 "%s is a %s namespace of something else: neither made by an engine for this "
                 "container nor of its pod",
                 str_quote (ns->path, quoted), type);
  ev_fix (ev, f, "remove --%s container:ID, or grant it in the policy",
          str_equal (type, "network") ? "network" : type);
}

static void check_foreign (struct evaluation *ev)
{
  const struct oci_linux *linux = ev->config->linux;

  for (size_t i = 0; i < linux->namespaces_len; i++)
    {
      const struct oci_namespace *entry = &linux->namespaces[i];
      char *pointer = ev_printf (ev, "/linux/namespaces/%zu/path", i);
      const struct fact_namespace *ns;

      if (entry->path == NULL || entry->type == NULL || entry_problem (ev, entry, pointer) != NULL)
        continue;
      ns = fact_namespace_find (ev->facts, pointer);
      if (fact_namespace_is_host (ev->facts, ns, entry->type) == 0)
        check_foreign_entry (ev, ns, entry->type, pointer);
    }
}

/* ---- cgroup ---- */

/* The host's own by path is as good as none.  */
static void leave_host_cgroups (struct evaluation *ev)
{
  struct oci_linux *linux = ev->config->linux;

  for (size_t i = 0; i < linux->namespaces_len; i++)
    {
      struct oci_namespace *entry = &linux->namespaces[i];
      struct tightening t = { .rule = RULE_NAMESPACE_CGROUP,
                              .new = "null",
                              .fix = "remove --cgroupns host" };
      const struct fact_namespace *ns;

      if (entry->path == NULL || !str_equal (entry->type, "cgroup"))
        continue;
      t.pointer = ev_printf (ev, "/linux/namespaces/%zu/path", i);
      ns = fact_namespace_find (ev->facts, t.pointer);
      if (ns == NULL || ns->error != NULL || fact_namespace_is_host (ev->facts, ns, "cgroup") == 0)
        continue;
      t.old = ev_json_strings (ev, &entry->path, 1);
      if (ev_tighten (ev, &t, "in the host's cgroup namespace the host's cgroup paths are visible"))
        entry->path = NULL;
    }
}

static void check_cgroup_namespace (struct evaluation *ev)
{
  struct oci_linux *linux = ev->config->linux;
  struct tightening t = {
    .rule = RULE_NAMESPACE_CGROUP,
    .pointer = ev_printf (ev, "/linux/namespaces/%zu", linux->namespaces_len),
    .old = "null",
    .new = "{\"type\":\"cgroup\"}",
    .fix = "add --cgroupns private",
  };
  struct oci_namespace *list;

  leave_host_cgroups (ev);
  if (namespace_entry (ev->config, "cgroup") != NULL)
    return;
  if (!ev_tighten (ev, &t, "without a cgroup namespace the host's cgroup paths are visible"))
    return;
  list = ev_alloc (ev, linux->namespaces_len + 1, sizeof *list);
  if (list == NULL)
    return;
  for (size_t i = 0; i < linux->namespaces_len; i++)
    list[i] = linux->namespaces[i];
  list[linux->namespaces_len].type = (char *)"cgroup";
  linux->namespaces = list;
  linux->namespaces_len++;
  linux->has_namespaces = true;
}

void check_namespaces (struct evaluation *ev)
{
  check_required (ev);
  check_entries (ev);
  check_foreign (ev);
  check_cgroup_namespace (ev);
}
