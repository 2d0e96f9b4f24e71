/* SPDX-License-Identifier: Apache-2.0 */
/* What engines mount of their own accord, recognised by place, owner and destination together: any
   one of them alone can be had by asking for a volume.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

const char *const engine_roots[] = {
  "/var/lib/docker",
  "/run/docker",
  "/var/lib/containers/storage",
  "/run/containers/storage",
  "/var/lib/containerd",
  "/run/containerd",
  "/var/lib/kubelet",
  "/var/lib/rancher/k3s/agent/containerd",
  "/run/k3s/containerd",
  NULL,
};

/* Of rootless Podman and Docker.  */
const char *const user_data_roots[] = { "containers/storage", "docker", NULL };
const char *const user_runtime_roots[] = { "containers", "docker", NULL };

/* Whether the source may itself be a mount point, as memory-backed volumes are.  */
enum own_mount
{
  OWN_NONE,
  OWN_TMPFS,
  OWN_ANY
};

/* Below an engine's data root: where the source lies, what it is, and where engines mount it.  */
static const struct shape
{
  enum shape_kind kind;
  const char *source;
  const char *object;
  const char *destination;
  enum own_mount own;
} shapes[] = {
  /* Docker; *.* is the root of a remapped daemon, UID.GID */
  { SHAPE_ENGINE_FILE, "containers/*/hosts", "file", "/etc/hosts", OWN_NONE },
  { SHAPE_ENGINE_FILE, "containers/*/hostname", "file", "/etc/hostname", OWN_NONE },
  { SHAPE_ENGINE_FILE, "containers/*/resolv.conf", "file", "/etc/resolv.conf", OWN_NONE },
  { SHAPE_SHM, "containers/*/mounts/shm", "directory", "/dev/shm", OWN_TMPFS },
  { SHAPE_VOLUME, "volumes/*/_data", "directory", "/**", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*.*/containers/*/hosts", "file", "/etc/hosts", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*.*/containers/*/hostname", "file", "/etc/hostname", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*.*/containers/*/resolv.conf", "file", "/etc/resolv.conf", OWN_NONE },
  { SHAPE_SHM, "*.*/containers/*/mounts/shm", "directory", "/dev/shm", OWN_TMPFS },
  { SHAPE_VOLUME, "*.*/volumes/*/_data", "directory", "/**", OWN_NONE },
  /* Podman and CRI-O */
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/hosts", "file", "/etc/hosts", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/hostname", "file", "/etc/hostname", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/resolv.conf", "file", "/etc/resolv.conf",
    OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/passwd", "file", "/etc/passwd", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/group", "file", "/etc/group", OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/.containerenv", "file", "/run/.containerenv",
    OWN_NONE },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/run/secrets", "directory", "/run/secrets",
    OWN_TMPFS },
  { SHAPE_ENGINE_FILE, "*-containers/*/userdata/secrets/*", "file", "/run/secrets/*", OWN_NONE },
  { SHAPE_SHM, "*-containers/*/userdata/shm", "directory", "/dev/shm", OWN_TMPFS },
  /* containerd's CRI */
  { SHAPE_ENGINE_FILE, "io.containerd.grpc.v1.cri/sandboxes/*/hosts", "file", "/etc/hosts",
    OWN_NONE },
  { SHAPE_ENGINE_FILE, "io.containerd.grpc.v1.cri/sandboxes/*/hostname", "file", "/etc/hostname",
    OWN_NONE },
  { SHAPE_ENGINE_FILE, "io.containerd.grpc.v1.cri/sandboxes/*/resolv.conf", "file",
    "/etc/resolv.conf", OWN_NONE },
  { SHAPE_SHM, "io.containerd.grpc.v1.cri/sandboxes/*/shm", "directory", "/dev/shm", OWN_TMPFS },
  /* the kubelet */
  { SHAPE_ENGINE_FILE, "pods/*/etc-hosts", "file", "/etc/hosts", OWN_NONE },
  { SHAPE_ENGINE_FILE, "pods/*/containers/*/*", "file", "/dev/termination-log", OWN_NONE },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~empty-dir/*", "directory", "/**", OWN_TMPFS },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~configmap/*", "directory", "/**", OWN_NONE },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~downward-api/*", "directory", "/**",
    OWN_TMPFS },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~secret/*", "directory", "/**", OWN_TMPFS },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~projected/*", "directory", "/**", OWN_TMPFS },
  { SHAPE_POD_VOLUME, "pods/*/volumes/kubernetes.io~csi/*/mount", "directory", "/**", OWN_ANY },
};

/* Volumes of a pod whose parts a subPath may show.  */
static const char *const subpath_volumes[] = {
  "volumes/kubernetes.io~empty-dir/**",    "volumes/kubernetes.io~configmap/**",
  "volumes/kubernetes.io~downward-api/**", "volumes/kubernetes.io~secret/**",
  "volumes/kubernetes.io~projected/**",    "volumes/kubernetes.io~csi/**",
};

static bool own_mount_fits (const struct fact_source *source, enum own_mount own)
{
  if (!source->has_mount_point || source->mount_point)
    return own == OWN_ANY || (own == OWN_TMPFS && str_equal (source->fs_type, "tmpfs"));
  return true;
}

static bool shape_fits (const struct shape *shape, const struct mount_view *view,
                        const char *below_root)
{
  bool mount_matters = shape->kind != SHAPE_VOLUME; /* mount.foreign words that better */

  return path_glob_matches (shape->source, below_root)
         && path_glob_matches (shape->destination, view->destination)
         && str_equal (shape->object, view->source->kind)
         && (!mount_matters || own_mount_fits (view->source, shape->own));
}

/* A service account's token, wherever the pod puts it.  */
static bool is_token (const struct mount_view *view, const char *below_root)
{
  return path_glob_covers ("pods/*/volumes/kubernetes.io~projected/kube-api-access*", below_root)
         || path_glob_covers ("/run/secrets/kubernetes.io", view->destination)
         || path_glob_covers ("/var/run/secrets/kubernetes.io", view->destination);
}

/* Whether REST, the part of a mount root behind the data root, lies in a volume of POD.  */
static bool in_pod_volume (const char *rest, const char *pod, size_t pod_len)
{
  static const char pods[] = "/pods/";

  if (!str_has_prefix (rest, pods))
    return false;
  rest += strlen (pods);
  if (strncmp (rest, pod, pod_len) != 0 || rest[pod_len] != '/')
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (subpath_volumes); i++)
    if (path_glob_matches (subpath_volumes[i], rest + pod_len + 1))
      return true;
  return false;
}

/* A subPath is a bind mount made by the kubelet, and shows whatever its root is.  mountRoot is the
   path inside of its file system: where the data root lies on one of its own, the beginning of the
   data root's path is missing there.  */
static bool is_subpath (const struct fact_source *source, const char *root, const char *below_root)
{
  const char *pod = below_root + strlen ("pods/");
  const char *cut = root;

  if (!path_glob_matches ("pods/*/volume-subpaths/*/*/*", below_root) || source->mount_root == NULL)
    return false;
  while (cut != NULL)
    {
      if (str_has_prefix (source->mount_root, cut)
          && in_pod_volume (source->mount_root + strlen (cut), pod, strcspn (pod, "/")))
        return true;
      if (*cut == '\0')
        return false;
      cut = strchrnul (cut + 1, '/');
    }
  return false;
}

static enum shape_kind find_below (const struct mount_view *view, const char *root)
{
  const char *below = view->source->path + strlen (root) + 1;

  if (is_token (view, below))
    return SHAPE_TOKEN;
  for (size_t i = 0; i < ARRAY_SIZE (shapes); i++)
    if (shape_fits (&shapes[i], view, below))
      return shapes[i].kind;
  return is_subpath (view->source, root, below) ? SHAPE_POD_VOLUME : SHAPE_NONE;
}

/* --init: the engine's own init program, read-only, and really the one that runs.  Readable by all,
   so that a file of root can't be shown under this name.  */
static bool is_init (const struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  const struct oci_process *process = ev->process;

  if (!str_equal (view->destination, "/sbin/docker-init")
      && !str_equal (view->destination, "/run/podman-init")
      && !str_equal (view->destination, "/dev/init"))
    return false;
  return str_equal (source->kind, "file") && mount_is_readonly (view) && source->has_uid
         && fact_uid_is_root (ev->facts, source->uid) && source->has_mode
         && (source->mode & 0022) == 0 && (source->mode & 0005) == 0005 && process->args_len > 0
         && str_equal (process->args[0], view->destination)
         && fact_chain_trusted (ev->facts, source->chain, source->chain_len, 0);
}

enum shape_kind shape_find (const struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  const struct fact_host *host = ev->facts->host;
  uint32_t root_uid = config_host_uid (ev->config, 0);

  if (source == NULL || source->error != NULL || source->path == NULL)
    return SHAPE_NONE;
  if (is_init (ev, view))
    return SHAPE_INIT;
  for (size_t i = 0; host != NULL && i < host->engine_roots_len; i++)
    {
      const char *root = host->engine_roots[i];
      enum shape_kind kind;

      if (str_equal (root, "/") || str_equal (root, source->path)
          || !path_is_within (source->path, root))
        continue;
      kind = find_below (view, root);
      if (kind != SHAPE_NONE
          && fact_chain_trusted (ev->facts, source->chain, source->chain_len, root_uid))
        return kind;
    }
  return SHAPE_NONE;
}

const char *shape_root_guess (struct evaluation *ev, const struct mount_view *view)
{
  const char *path = view->source->path;

  for (const char *below = path + strlen (path); below > path + 1; below--)
    for (size_t i = 0; below[-1] == '/' && i < ARRAY_SIZE (shapes); i++)
      if ((shapes[i].kind == SHAPE_ENGINE_FILE || shapes[i].kind == SHAPE_SHM)
          && shape_fits (&shapes[i], view, below) && below - 1 > path)
        return ev_printf (ev, "%.*s", (int)(below - 1 - path), path);
  return NULL;
}
