/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces, control groups, sysctls, masks, seccomp (config-linux.md).  Pure code.  */
#include <errno.h>

#include "base/str.h"
#include "plan/make.h"
#include "spec/answers.h"
#include "spec/names.h"
#include "spec/resources.h"

/* A namespace that is joined is joined by the descriptor that was judged.  */
static int make_namespace (const struct plan_input *in, struct arena *arena, size_t index,
                           struct plan_namespace *ns, struct error *err)
{
  const struct oci_namespace *n = &in->admission->config->linux->namespaces[index];
  ns->type = n->type;
  ns->path = n->path;
  SET_NUMBER (ns, flag, namespace_flag (n->type));
  SET_NUMBER (ns, descriptor, -1);
  if (n->path == NULL || n->path[0] == '\0')
    {
      ns->path = NULL;
      return 0;
    }
  const char *pointer = pointer_printf (arena, "/linux/namespaces/%zu/path", index);
  const struct fact_namespace *fact = pointer ? fact_namespace_find (in->facts, pointer) : NULL;
  char quoted[STR_QUOTE_MAX];
  if (fact == NULL || fact->error != NULL || !fact->has_descriptor || fact->descriptor < 0)
    return error_set (err, -ENOENT, "%s namespace %s can't be opened: %s", n->type,
                      str_quote (n->path, quoted),
                      fact && fact->error ? fact->error : "it was never looked at");
  if (!fact->nsfs || !str_equal (fact->kind, n->type))
    return error_set (err, -EINVAL, "%s is no %s namespace", str_quote (n->path, quoted), n->type);
  ns->descriptor = fact->descriptor;
  return 0;
}

/* A configuration that joins the host's own namespace by path has, by name, a namespace of its own:
   what validate asks for is not enough (sysctl_namespace).  */
static int check_sysctls (const struct plan_input *in, struct arena *arena, struct error *err)
{
  const struct oci_linux *linux_ = in->admission->config->linux;
  char quoted[STR_QUOTE_MAX];
  for (size_t i = 0; i < linux_->sysctl.len; i++)
    for (size_t n = 0; n < linux_->namespaces_len; n++)
      {
        const struct oci_namespace *ns = &linux_->namespaces[n];
        if (ns->path == NULL || ns->path[0] == '\0'
            || !str_equal (ns->type, sysctl_namespace (linux_->sysctl.keys[i])))
          continue;
        const char *pointer = pointer_printf (arena, "/linux/namespaces/%zu/path", n);
        const struct fact_namespace *fact =
            pointer ? fact_namespace_find (in->facts, pointer) : NULL;
        /* One that can't be told from the host's is taken for it.  */
        if (fact == NULL || fact_namespace_is_host (in->facts, fact, ns->type) != 0)
          return error_set (err, -EPERM,
                            "sysctl.name: the kernel parameter %s would be set on the host: the %s "
                            "namespace that is joined is the host's",
                            str_quote (linux_->sysctl.keys[i], quoted), ns->type);
      }
  return 0;
}

static int make_namespaces (const struct plan_input *in, struct arena *arena, struct plan *plan,
                            struct error *err)
{
  const struct oci_linux *linux_ = in->admission->config->linux;
  plan->namespaces = arena_alloc (arena, (linux_->namespaces_len + 1) * sizeof *plan->namespaces);
  if (plan->namespaces == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning namespaces");
  for (size_t i = 0; i < linux_->namespaces_len; i++)
    {
      int r = make_namespace (in, arena, i, &plan->namespaces[i], err);
      if (r < 0)
        return r;
    }
  plan->namespaces_len = linux_->namespaces_len;
  plan->has_namespaces = true;
  return 0;
}

/* Without maps the ids up to the process's own are those of the same number outside: as root the
   host's, else those of the namespace that an ordinary user's command has made, whose root he is.
   No policy but a permissive one lets that pass (userns.mapping).  */
static int map_own_ids (const struct oci_process *process, struct arena *arena, struct plan *plan,
                        struct plan_user_namespace *user)
{
  const struct oci_user *u = process->user;
  struct oci_id_mapping *maps = arena_alloc_array (arena, 2, sizeof *maps);
  if (maps == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < 2; i++)
    {
      SET_NUMBER (&maps[i], container_id, 0);
      SET_NUMBER (&maps[i], host_id, 0);
      SET_NUMBER (&maps[i], size, 1 + (u == NULL ? 0 : i == 0 ? u->uid : u->gid));
    }
  user->has_uid_mappings = user->has_gid_mappings = true;
  user->uid_mappings = &maps[0];
  user->gid_mappings = &maps[1];
  user->uid_mappings_len = user->gid_mappings_len = 1;
  plan->user_namespace = user;
  return 0;
}

static struct oci_id_mapping *mappings_of (struct arena *arena, const struct fact_id_range *ranges,
                                           size_t len)
{
  struct oci_id_mapping *maps = arena_alloc_array (arena, len + 1, sizeof *maps);
  for (size_t i = 0; maps != NULL && i < len; i++)
    {
      SET_NUMBER (&maps[i], container_id, ranges[i].inside);
      SET_NUMBER (&maps[i], host_id, ranges[i].outside);
      SET_NUMBER (&maps[i], size, ranges[i].count);
    }
  return maps;
}

/* What a namespace that is joined maps is what it maps, whatever the configuration says; the rule
   namespace.entry compares the two.  */
static int take_maps (const struct plan_input *in, struct arena *arena, size_t index,
                      struct plan *plan, struct plan_user_namespace *user)
{
  const char *pointer = pointer_printf (arena, "/linux/namespaces/%zu/path", index);
  const struct fact_namespace *fact = pointer ? fact_namespace_find (in->facts, pointer) : NULL;
  if (fact == NULL)
    return -ENOMEM;
  user->has_joined = user->joined = true;
  user->has_uid_mappings = user->has_gid_mappings = true;
  user->uid_mappings = mappings_of (arena, fact->uid_map, fact->uid_map_len);
  user->uid_mappings_len = fact->uid_map_len;
  user->gid_mappings = mappings_of (arena, fact->gid_map, fact->gid_map_len);
  user->gid_mappings_len = fact->gid_map_len;
  plan->user_namespace = user;
  return user->uid_mappings == NULL || user->gid_mappings == NULL ? -ENOMEM : 0;
}

static int make_user_namespace (const struct plan_input *in, struct arena *arena, struct plan *plan)
{
  const struct oci_linux *linux_ = in->admission->config->linux;
  struct plan_user_namespace *user;
  size_t index = 0;
  while (index < plan->namespaces_len && !str_equal (plan->namespaces[index].type, "user"))
    index++;
  if (index == plan->namespaces_len)
    return 0;
  user = arena_alloc (arena, sizeof *user);
  if (user == NULL)
    return -ENOMEM;
  if (plan->namespaces[index].path != NULL)
    return take_maps (in, arena, index, plan, user);
  if (linux_->uid_mappings_len == 0)
    return map_own_ids (in->admission->config->process, arena, plan, user);
  user->has_uid_mappings = user->has_gid_mappings = true;
  user->uid_mappings = linux_->uid_mappings;
  user->uid_mappings_len = linux_->uid_mappings_len;
  user->gid_mappings = linux_->gid_mappings;
  user->gid_mappings_len = linux_->gid_mappings_len;
  plan->user_namespace = user;
  return 0;
}

static bool asks_for_limits (const struct oci_config *asked)
{
  return asked != NULL && asked->linux != NULL
         && resources_ask_for_limits (asked->linux->resources);
}

/* Without cgroupsPath a group of the container's own below the root of each hierarchy.  */
static int make_cgroup (const struct plan_input *in, struct arena *arena, struct plan *plan,
                        struct error *err)
{
  if (in->cgroup_disabled && asks_for_limits (in->asked))
    return error_set (err, -EINVAL,
                      "linux.resources asks for limits, which nothing could hold under "
                      "--cgroup-manager=disabled");
  const struct oci_linux *linux_ = in->admission->config->linux;
  struct plan_cgroup *cgroup = arena_alloc (arena, sizeof *cgroup);
  if (cgroup == NULL)
    return error_set (err, -ENOMEM, "out of memory for the plan of the cgroup");
  const char *path = linux_->cgroups_path;
  if (path == NULL || path[0] == '\0')
    cgroup->path = arena_printf (arena, "/agentrun-%s", in->id);
  else
    cgroup->path = arena_printf (arena, "%s%s", path[0] == '/' ? "" : "/", path);
  cgroup->resources = linux_->resources;
  SET_NUMBER (cgroup, optional, facts_are_rootless (in->facts) && !asks_for_limits (in->asked));
  SET_NUMBER (cgroup, disabled, in->cgroup_disabled);
  plan->cgroup = cgroup;
  return cgroup->path ? 0 : error_set (err, -ENOMEM, "out of memory for the plan of the cgroup");
}

static int make_seccomp (const struct plan_input *in, struct arena *arena, struct plan *plan)
{
  const struct admission *a = in->admission;
  struct oci_seccomp *profile = a->config->linux->seccomp;
  if (profile == NULL && !a->baseline && !a->builtin_seccomp)
    return 0;
  struct plan_seccomp *seccomp = arena_alloc (arena, sizeof *seccomp);
  if (seccomp == NULL)
    return -ENOMEM;
  SET_NUMBER (seccomp, baseline, a->baseline);
  SET_NUMBER (seccomp, builtin, a->builtin_seccomp && profile == NULL);
  seccomp->has_allowed = a->baseline_allowed_len > 0;
  seccomp->allowed = a->baseline_allowed;
  seccomp->allowed_len = a->baseline_allowed_len;
  seccomp->profile = profile;
  plan->seccomp = seccomp;
  return 0;
}

int plan_make_linux (const struct plan_input *in, struct arena *arena, struct plan *plan,
                     struct error *err)
{
  struct oci_config *config = in->admission->config;
  if (config->linux == NULL && (config->linux = arena_alloc (arena, sizeof *config->linux)) == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning");
  const struct oci_linux *linux_ = config->linux;
  plan->has_masked_paths = linux_->has_masked_paths;
  plan->masked_paths = linux_->masked_paths;
  plan->masked_paths_len = linux_->masked_paths_len;
  plan->has_readonly_paths = linux_->has_readonly_paths;
  plan->readonly_paths = linux_->readonly_paths;
  plan->readonly_paths_len = linux_->readonly_paths_len;
  plan->sysctl = linux_->sysctl;
  plan->net_devices = linux_->net_devices;
  plan->mount_label = linux_->mount_label;
  plan->time_offsets = linux_->time_offsets;
  plan->personality = linux_->personality;
  plan->memory_policy = linux_->memory_policy;
  int r = make_namespaces (in, arena, plan, err);
  if (r == 0)
    r = check_sysctls (in, arena, err);
  if (r == 0)
    r = make_cgroup (in, arena, plan, err);
  if (r < 0)
    return r;
  if (make_user_namespace (in, arena, plan) < 0 || make_seccomp (in, arena, plan) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning");
  return 0;
}
