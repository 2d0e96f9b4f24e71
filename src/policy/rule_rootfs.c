/* SPDX-License-Identifier: Apache-2.0 */
/* Rules rootfs.* and path.masked.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* ---- rootfs.path, rootfs.shape ---- */

static bool is_below (const char *path, const char *dir)
{
  return dir != NULL && path_is_within (path, dir) && !str_equal (path, dir)
         && !str_equal (dir, "/");
}

/* What is wrong with the place of the root file system, or NULL.  */
static char *root_problem (struct evaluation *ev)
{
  const struct fact_source *root = ev->facts->rootfs;
  const struct fact_host *host = ev->facts->host;
  struct never_hit hit;
  char quoted[STR_QUOTE_MAX];

  if (root == NULL)
    return ev_printf (ev, "the root file system was not looked at");
  if (root->error != NULL)
    return ev_printf (ev, "the root file system %s can't be opened (%s)",
                      str_quote (root->source, quoted), root->error);
  if (root->path == NULL || !str_equal (root->kind, "directory"))
    return ev_printf (ev, "the root file system %s is not a directory",
                      str_quote (root->source, quoted));
  str_quote (root->path, quoted);
  /* By object too: the host's root may be bind-mounted anywhere.  */
  if (never_find (ev->policy, ev->facts, root, &hit) && !str_equal (hit.how, "contains"))
    return ev_printf (ev, "the root file system %s %s %s", quoted, hit.how, hit.entry);
  if (is_below (root->path, ev->facts->bundle))
    return NULL;
  for (size_t i = 0; host != NULL && i < host->engine_roots_len; i++)
    if (is_below (root->path, host->engine_roots[i]))
      return NULL;
  return ev_printf (ev,
                    "the root file system %s lies neither in the bundle nor below an engine's "
                    "data root",
                    quoted);
}

static void check_path (struct evaluation *ev)
{
  char *problem = root_problem (ev);
  struct finding *f;

  if (problem == NULL)
    return;
  f = ev_report (ev, RULE_ROOTFS_PATH, ACTION_REJECT, "/root/path", "%s", problem);
  ev_fix (ev, f,
          "run an image (not --rootfs), or add the engine's data root to engines.state in "
          "the policy");
}

static void check_shape (struct evaluation *ev)
{
  static const char *const members[] = { "/proc", "/sys", "/dev" };
  const struct facts *facts = ev->facts;

  if (facts->rootfs == NULL || facts->rootfs->error != NULL)
    return; /* rootfs.path says so */
  for (size_t m = 0; m < ARRAY_SIZE (members); m++)
    {
      const char *kind = NULL;
      struct finding *f;

      for (size_t i = 0; i < facts->root_members_len; i++)
        if (str_equal (facts->root_members[i].path, members[m]))
          kind = facts->root_members[i].kind;
      if (str_equal (kind, "directory") || str_equal (kind, "absent"))
        continue;
      f = ev_report (ev, RULE_ROOTFS_SHAPE, ACTION_REJECT, "/root/path",
                     "%s of the image is not a directory (%s): what is mounted there would land "
                     "elsewhere",
                     members[m], kind == NULL ? "unknown" : kind);
      ev_fix (ev, f, "rebuild the image with %s as an ordinary directory", members[m]);
    }
}

/* ---- rootfs.readonly, rootfs.propagation ---- */

static void check_readonly (struct evaluation *ev)
{
  const struct oci_root *root = ev->config->root;
  struct finding *f;

  if (root != NULL && root->has_readonly && root->readonly)
    return;
  f = ev_report (ev, RULE_ROOTFS_READONLY, ACTION_REJECT, "/root/readonly",
                 "the root file system is writable");
  ev_fix (ev, f,
          "add --read-only --tmpfs /tmp (Kubernetes: readOnlyRootFilesystem: true and an "
          "emptyDir on /tmp)");
}

static void check_propagation (struct evaluation *ev)
{
  struct oci_linux *linux = ev->config->linux;
  const char *word = linux->rootfs_propagation;
  struct finding *f;

  if (word == NULL || str_equal (word, "private") || str_equal (word, "rprivate"))
    return;
  if (str_equal (word, "shared") || str_equal (word, "rshared"))
    {
      f = ev_report (ev, RULE_ROOTFS_PROPAGATION, ACTION_REJECT, "/linux/rootfsPropagation",
                     "mounts of the container would appear on the host (propagation %s)", word);
      ev_fix (ev, f,
              "remove :shared and :rshared from the volumes (Kubernetes: mountPropagation: "
              "None)");
      return;
    }

  struct tightening t = {
    .rule = RULE_ROOTFS_PROPAGATION,
    .pointer = "/linux/rootfsPropagation",
    .old = ev_json_strings (ev, &linux->rootfs_propagation, 1),
    .new = "\"rprivate\"",
    .fix = "remove :slave and :rslave from the volumes",
  };
  if (ev_tighten (ev, &t, "mounts of the host would appear in the container"))
    linux->rootfs_propagation = (char *)"rprivate";
}

void check_rootfs (struct evaluation *ev)
{
  check_path (ev);
  check_shape (ev);
  check_readonly (ev);
  check_propagation (ev);
}

/* ---- path.masked ---- */

/* Files of procfs and sysfs that tell of the host or act on it.  The lists of the engines differ;
   this is what holds whatever they send.  */
static const char *const masked[] = {
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/sys/devices/virtual/powercap",
  "/sys/firmware",
};

static const char *const read_only[] = {
  "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

/* In PATHS, or below a path that is.  */
static bool is_listed (char *const *paths, size_t len, const char *path)
{
  for (size_t i = 0; i < len; i++)
    if (path_is_within (path, paths[i]))
      return true;
  return false;
}

static size_t missing_paths (char *const *paths, size_t len, const char *const *wanted,
                             size_t wanted_len, char **ret)
{
  size_t n = 0;

  for (size_t i = 0; i < wanted_len; i++)
    if (!is_listed (paths, len, wanted[i]))
      ret[n++] = (char *)wanted[i];
  return n;
}

static void add_paths (struct evaluation *ev, const char *pointer, const char *const *wanted,
                       size_t wanted_len, char ***paths, size_t *len, bool *has)
{
  char **list = ev_alloc (ev, *len + wanted_len + 1, sizeof *list);
  size_t missing;

  if (list == NULL)
    return;
  for (size_t i = 0; i < *len; i++)
    list[i] = (*paths)[i];
  missing = missing_paths (*paths, *len, wanted, wanted_len, list + *len);
  if (missing == 0)
    return;

  struct tightening t = {
    .rule = RULE_PATH_MASKED,
    .pointer = pointer,
    .old = ev_json_strings (ev, *paths, *len),
    .new = ev_json_strings (ev, list, *len + missing),
    .fix = "remove --security-opt systempaths=unconfined or unmask=ALL (Kubernetes: procMount: "
           "Default)",
  };
  if (!ev_tighten (ev, &t, "%zu paths of procfs and sysfs are added", missing))
    return;
  *paths = list;
  *len += missing;
  *has = true;
}

void check_masked_paths (struct evaluation *ev)
{
  struct oci_linux *linux = ev->config->linux;

  add_paths (ev, "/linux/maskedPaths", masked, ARRAY_SIZE (masked), &linux->masked_paths,
             &linux->masked_paths_len, &linux->has_masked_paths);
  add_paths (ev, "/linux/readonlyPaths", read_only, ARRAY_SIZE (read_only), &linux->readonly_paths,
             &linux->readonly_paths_len, &linux->has_readonly_paths);
}
