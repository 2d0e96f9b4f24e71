/* SPDX-License-Identifier: Apache-2.0 */
/* Rules mount.type, mount.propagation, mount.idmap and mount.destination: what is mounted, and over
   what.  Pure code.  */
#include <string.h>
#include <sys/mount.h>

#include "policy/internal.h"

/* ---- mount.type ---- */

/* File systems that the kernel fills and that a container may have.  A bind is judged by its
 * source.  */
static const char *const types[] = { "proc",   "sysfs",  "tmpfs",  "devpts",
                                     "mqueue", "cgroup", "cgroup2" };

static void check_type (struct evaluation *ev, const struct mount_view *view)
{
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  for (size_t i = 0; i < ARRAY_SIZE (types); i++)
    if (str_equal (view->mount->type, types[i]))
      return;
  f = ev_report (ev, RULE_MOUNT_TYPE, ACTION_REJECT, ev_printf (ev, "%s/type", view->pointer),
                 "a file system of type %s can't be mounted in a sandbox",
                 view->mount->type == NULL ? "(none)" : str_quote (view->mount->type, quoted));
  ev_fix (ev, f, "use a bind mount, a named volume or --tmpfs (podman: not :O)");
}

/* ---- mount.propagation ---- */

static const struct
{
  const char *word, *private;
} slave_words[] = {
  { "slave", "private" },
  { "rslave", "rprivate" },
};

static void make_private (struct evaluation *ev, struct mount_view *view)
{
  struct oci_mount *mount = view->mount;
  char **options = ev_alloc (ev, mount->options_len + 1, sizeof *options);

  for (size_t i = 0; options != NULL && i < mount->options_len; i++)
    {
      options[i] = mount->options[i];
      for (size_t w = 0; w < ARRAY_SIZE (slave_words); w++)
        if (str_equal (options[i], slave_words[w].word))
          options[i] = (char *)slave_words[w].private;
    }
  if (options == NULL)
    return;

  struct tightening t = {
    .rule = RULE_MOUNT_PROPAGATION,
    .pointer = ev_printf (ev, "%s/options", view->pointer),
    .old = ev_json_strings (ev, mount->options, mount->options_len),
    .new = ev_json_strings (ev, options, mount->options_len),
    .fix = "remove :slave or :rslave from the volume (Kubernetes: mountPropagation: None)",
  };
  if (ev_tighten (ev, &t, "mounts that the host makes later would appear in the container"))
    mount_set_options (ev, view, options, mount->options_len);
}

static void check_propagation (struct evaluation *ev, struct mount_view *view)
{
  struct finding *f;

  if (view->options.propagation == MS_SLAVE)
    make_private (ev, view);
  if (view->options.propagation != MS_SHARED)
    return;
  f = ev_report (ev, RULE_MOUNT_PROPAGATION, ACTION_REJECT,
                 ev_printf (ev, "%s/options", view->pointer),
                 "mounts of the container would appear on the host (shared propagation)");
  ev_fix (ev, f, "remove :shared or :rshared from the volume (Kubernetes: mountPropagation: None)");
}

/* ---- mount.idmap ---- */

static bool lets_root_in (const struct oci_id_mapping *maps, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (maps[i].host_id == 0)
      return true;
  return false;
}

/* What a process writes as hostID belongs to containerID on disk (mount_setattr(2)): whether that
   is root for HOST_ID, who the process is on the host.  */
static bool is_disk_root (const struct oci_id_mapping *maps, size_t len, uint32_t host_id)
{
  for (size_t i = 0; i < len; i++)
    if (maps[i].container_id == 0 && maps[i].size > 0 && maps[i].host_id == host_id)
      return true;
  return false;
}

static bool has_disk_root (const struct oci_id_mapping *maps, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (maps[i].container_id == 0 && maps[i].size > 0)
      return true;
  return false;
}

/* The kubelet maps a pod's whole range, root of the disk included: harmless as long as the process
   is somebody else and has no capability by which it could become or make another owner.  */
static bool writes_as_root (const struct evaluation *ev, const struct oci_id_mapping *uids,
                            size_t uids_len, const struct oci_id_mapping *gids, size_t gids_len)
{
  const struct oci_user *user = ev->process->user;
  const struct oci_capabilities *caps = ev->process->capabilities;
  bool root = is_disk_root (uids, uids_len, config_host_uid (ev->config, user->uid))
              || is_disk_root (gids, gids_len, config_host_gid (ev->config, user->gid));

  for (size_t i = 0; i < user->additional_gids_len; i++)
    root |= is_disk_root (gids, gids_len, config_host_gid (ev->config, user->additional_gids[i]));
  if (caps != NULL && (caps->bounding_len > 0 || caps->permitted_len > 0 || caps->ambient_len > 0))
    root |= has_disk_root (uids, uids_len) || has_disk_root (gids, gids_len);
  return root;
}

static const char *idmap_problem (const struct evaluation *ev, const struct oci_mount *mount)
{
  const struct oci_linux *linux = ev->config->linux;
  bool own = mount->uid_mappings_len > 0 || mount->gid_mappings_len > 0;
  const struct oci_id_mapping *uids = own ? mount->uid_mappings : linux->uid_mappings;
  const struct oci_id_mapping *gids = own ? mount->gid_mappings : linux->gid_mappings;
  size_t uids_len = own ? mount->uid_mappings_len : linux->uid_mappings_len;
  size_t gids_len = own ? mount->gid_mappings_len : linux->gid_mappings_len;

  if (namespace_entry (ev->config, "user") == NULL)
    return "an idmapped mount without a user namespace changes who owns the host's files";
  if (lets_root_in (uids, uids_len) || lets_root_in (gids, gids_len))
    return "the idmapped mount lets the host's root in under another id";
  if (writes_as_root (ev, uids, uids_len, gids, gids_len))
    return "what the process writes to the idmapped mount belongs to root on the host's disk";
  return NULL;
}

static void check_idmap (struct evaluation *ev, const struct mount_view *view)
{
  const struct oci_mount *mount = view->mount;
  bool asked = view->options.idmap || mount->uid_mappings_len > 0 || mount->gid_mappings_len > 0;
  const char *problem = asked ? idmap_problem (ev, mount) : NULL;

  if (problem != NULL)
    ev_fix (ev, ev_report (ev, RULE_MOUNT_IDMAP, ACTION_REJECT, view->pointer, "%s", problem),
            "remove the idmap option, or map the process to an owner on disk (containerID) other "
            "than 0");
}

/* ---- mount.destination ---- */

/* Made by the runtime in /dev, or links there.  */
static const char *const nodes[] = {
  "/dev/null",    "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
  "/dev/console", "/dev/ptmx", "/dev/fd",   "/dev/stdin",  "/dev/stdout",  "/dev/stderr",
};

/* Places that take a mount of their own type only, and let nothing else in below them.  */
static const struct
{
  const char *path, *type;
} places[] = {
  { "/proc", "proc" },      { "/sys", "sysfs" },         { "/dev", "tmpfs" },
  { "/dev/pts", "devpts" }, { "/dev/mqueue", "mqueue" },
};

static bool is_type (const struct mount_view *view, const char *type)
{
  return !view->options.bind && str_equal (view->mount->type, type);
}

static const char *node_problem (const struct mount_view *view)
{
  for (size_t i = 0; i < ARRAY_SIZE (nodes); i++)
    if (path_is_within (view->destination, nodes[i]))
      return "replaces a device node or link of the runtime";
  return NULL;
}

/* What is wrong with the destination, or NULL.  BEFORE is how many mounts come earlier.  */
static const char *destination_problem (const struct mount_view *views, size_t index)
{
  const struct mount_view *view = &views[index];
  const char *path = view->destination;

  if (str_equal (path, "/"))
    return "hides the root file system";
  if (str_equal (path, "/sys/fs/cgroup") && (is_type (view, "cgroup") || is_type (view, "cgroup2")))
    return NULL;
  for (size_t i = 0; i < ARRAY_SIZE (places); i++)
    {
      if (!str_equal (path, places[i].path))
        continue;
      if (!is_type (view, places[i].type))
        return "replaces what the kernel or the runtime shows there";
      for (size_t k = 0; k < index; k++)
        if (str_equal (views[k].destination, path))
          return "hides an earlier mount there";
      return NULL;
    }
  if (path_is_within (path, "/proc") || path_is_within (path, "/sys"))
    return "lies inside of procfs or sysfs and changes what is masked there";
  if (path_is_within (path, "/dev/pts") || path_is_within (path, "/dev/mqueue"))
    return "replaces what the kernel or the runtime shows there";
  return node_problem (view);
}

static void check_destination (struct evaluation *ev, const struct mount_view *views, size_t index)
{
  const char *problem = destination_problem (views, index);
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (problem == NULL)
    return;
  f = ev_report (ev, RULE_MOUNT_DESTINATION, ACTION_REJECT,
                 ev_printf (ev, "%s/destination", views[index].pointer), "a mount on %s %s",
                 str_quote (views[index].mount->destination, quoted), problem);
  ev_fix (ev, f, "mount it elsewhere");
}

/* ---- the two groups, in catalogue order ---- */

void check_mount_kinds (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    {
      if (!views[i].options.bind)
        check_type (ev, &views[i]);
      check_propagation (ev, &views[i]);
      check_idmap (ev, &views[i]);
    }
}

void check_mount_destinations (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    check_destination (ev, views, i);
}
