/* SPDX-License-Identifier: Apache-2.0 */
/* What no grant reaches: directories of the host as a whole, homes and the credentials in them,
   control sockets, and what the policy adds.  By path and by object, since a bind mount or a second
   name shows the same thing elsewhere.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* How far an entry reaches beyond the directories above it, which are never granted either.  */
enum reach
{
  REACH_SELF, /* the directory as a whole; what lies below may be granted */
  REACH_TREE  /* and everything below */
};

static const char whole[] = "a host directory that no sandbox gets as a whole";
static const char home[] = "the home directory of an account";
static const char secrets[] = "where an account keeps its credentials";
static const char listed[] = "on the policy's never list";
static const char engine[] = "the control socket of a container engine: it gives root on the host";
static const char kubelet[] = "a control socket of the kubelet: it gives power over the node";
static const char manager[] =
    "a control socket of the host's service manager: it gives power over the host";
static const char machines[] = "the control socket of a machine manager: it gives root on the host";
static const char agent[] = "the socket of a key agent: it signs with its user's keys";

/* `*` as in grants.  A pattern can't be asked of the host, but a path can be held against it.  */
static const struct entry
{
  const char *path;
  const char *what;
  enum reach reach;
} entries[] = {
  { "/", whole, REACH_SELF },
  { "/boot", whole, REACH_SELF },
  { "/dev", whole, REACH_SELF },
  { "/etc", whole, REACH_SELF },
  { "/proc", whole, REACH_SELF },
  { "/root", home, REACH_SELF },
  { "/run", whole, REACH_SELF },
  { "/run/user", whole, REACH_SELF },
  { "/sys", whole, REACH_SELF },
  { "/usr", whole, REACH_SELF },
  { "/var", whole, REACH_SELF },
  { "/var/lib", whole, REACH_SELF },
  { "/run/docker.sock", engine, REACH_TREE },
  { "/run/docker/containerd/containerd.sock", engine, REACH_TREE },
  { "/run/containerd/containerd.sock", engine, REACH_TREE },
  { "/run/k3s/containerd/containerd.sock", engine, REACH_TREE },
  { "/run/crio/crio.sock", engine, REACH_TREE },
  { "/run/podman/podman.sock", engine, REACH_TREE },
  { "/run/buildkit/buildkitd.sock", engine, REACH_TREE },
  { "/run/cri-dockerd.sock", engine, REACH_TREE },
  { "/run/user/*/docker.sock", engine, REACH_TREE },
  { "/run/user/*/podman/podman.sock", engine, REACH_TREE },
  { "/run/user/*/buildkit/buildkitd.sock", engine, REACH_TREE },
  { "/run/user/*/containerd/containerd.sock", engine, REACH_TREE },
  { "/var/lib/kubelet/device-plugins/kubelet.sock", kubelet, REACH_TREE },
  { "/var/lib/kubelet/pod-resources/kubelet.sock", kubelet, REACH_TREE },
  { "/run/systemd/private", manager, REACH_TREE },
  { "/run/systemd/io.systemd.Manager", manager, REACH_TREE },
  { "/run/dbus/system_bus_socket", manager, REACH_TREE },
  { "/run/user/*/bus", manager, REACH_TREE },
  { "/run/user/*/systemd/private", manager, REACH_TREE },
  { "/run/snapd.socket", manager, REACH_TREE },
  { "/run/snapd-snap.socket", manager, REACH_TREE },
  { "/run/libvirt/libvirt-sock", machines, REACH_TREE },
  { "/run/libvirt/virtqemud-sock", machines, REACH_TREE },
  { "/var/lib/lxd/unix.socket", machines, REACH_TREE },
  { "/var/snap/lxd/common/lxd/unix.socket", machines, REACH_TREE },
  { "/run/incus/unix.socket", machines, REACH_TREE },
  { "/var/lib/incus/unix.socket", machines, REACH_TREE },
  { "/run/user/*/gnupg/S.gpg-agent*", agent, REACH_TREE },
  { "/run/user/*/keyring/*", agent, REACH_TREE },
  { "/run/user/*/ssh-agent*", agent, REACH_TREE },
  { "/tmp/ssh-*/agent.*", agent, REACH_TREE },
};

/* Below each home.  */
const char *const never_home_names[] = {
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  ".config/microsoft-edge",
  ".config/BraveSoftware",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".password-store",
  NULL,
};

const char *never_path (size_t index)
{
  size_t n = 0;

  for (size_t i = 0; i < ARRAY_SIZE (entries); i++)
    if (strchr (entries[i].path, '*') == NULL && n++ == index)
      return entries[i].path;
  return NULL;
}

static bool hit (struct never_hit *ret, const char *entry, const char *what, const char *how,
                 const char *where)
{
  *ret = (struct never_hit){ .entry = entry, .what = what, .how = how, .where = where };
  return true;
}

/* /var/run is a link to /run wherever these sockets are found.  */
static const char *without_var (const char *path)
{
  return path_is_within (path, "/var/run") ? path + strlen ("/var") : path;
}

static bool find_pattern (const char *path, struct never_hit *ret)
{
  for (size_t i = 0; i < ARRAY_SIZE (entries); i++)
    {
      const struct entry *e = &entries[i];

      if (path_glob_matches (e->path, path))
        return hit (ret, e->path, e->what, "is", NULL);
      if (path_glob_above (e->path, path))
        return hit (ret, e->path, e->what, "lies above", NULL);
      if (e->reach == REACH_TREE && path_glob_covers (e->path, path))
        return hit (ret, e->path, e->what, "lies below", NULL);
    }
  return false;
}

static bool find_listed (const struct policy *policy, const char *path, struct never_hit *ret)
{
  const struct policy_file *file = policy->effective;

  for (size_t i = 0; i < file->never_len; i++)
    {
      if (path_is_within (path, file->never[i]))
        return hit (ret, file->never[i], listed,
                    str_equal (path, file->never[i]) ? "is" : "lies below", NULL);
      if (path_is_within (file->never[i], path))
        return hit (ret, file->never[i], listed, "lies above", NULL);
    }
  return false;
}

/* What an entry that resolve looked up is: from the table, from the policy, or of a home.  */
static struct entry classify (const struct policy *policy, const char *path)
{
  const struct policy_file *file = policy->effective;

  for (size_t i = 0; i < ARRAY_SIZE (entries); i++)
    if (str_equal (entries[i].path, path))
      return entries[i];
  if (strings_contain (file->never, file->never_len, path))
    return (struct entry){ path, listed, REACH_TREE };
  for (size_t i = 0; never_home_names[i] != NULL; i++)
    {
      size_t len = strlen (path), tail = strlen (never_home_names[i]);

      if (str_has_suffix (path, never_home_names[i]) && len > tail && path[len - tail - 1] == '/')
        return (struct entry){ path, secrets, REACH_TREE };
    }
  return (struct entry){ path, home, REACH_SELF };
}

static bool same_object (const struct fact_never *never, bool known, uint64_t dev, uint64_t ino)
{
  return known && never->has_dev && never->has_ino && never->dev == dev && never->ino == ino;
}

static bool find_object (const struct policy *policy, const struct fact_never *never,
                         const struct fact_source *source, struct never_hit *ret)
{
  struct entry e;

  if (never->entry == NULL)
    return false;
  e = classify (policy, never->entry);
  if (same_object (never, source->has_dev && source->has_ino, source->dev, source->ino))
    return hit (ret, never->entry, e.what, "is", NULL);
  for (size_t i = 0; i < source->nested_len; i++)
    {
      const struct fact_nested *n = &source->nested[i];

      if (same_object (never, n->has_dev && n->has_ino, n->dev, n->ino))
        return hit (ret, never->entry, e.what, "contains", n->path);
    }
  if (never->path == NULL)
    return false;
  if (path_is_within (never->path, source->path))
    return hit (ret, never->entry, e.what,
                str_equal (never->path, source->path) ? "is" : "lies above", NULL);
  if (e.reach == REACH_TREE && path_is_within (source->path, never->path))
    return hit (ret, never->entry, e.what, "lies below", NULL);
  return false;
}

static bool find_walked (const struct policy *policy, const struct fact_source *source,
                         struct never_hit *ret)
{
  const struct fact_walk *walk = source->walk;

  for (size_t i = 0; walk != NULL && i < walk->found_len; i++)
    if (str_equal (walk->found[i].kind, "never") && walk->found[i].entry != NULL)
      return hit (ret, walk->found[i].entry, classify (policy, walk->found[i].entry).what,
                  "contains", walk->found[i].path);
  return false;
}

bool never_find (const struct policy *policy, const struct facts *facts,
                 const struct fact_source *source, struct never_hit *ret)
{
  const struct fact_host *host = facts->host;

  if (source->path == NULL)
    return false;
  if (find_pattern (source->path, ret) || find_listed (policy, source->path, ret))
    return true;
  for (size_t i = 0; host != NULL && i < host->never_len; i++)
    if (find_object (policy, &host->never[i], source, ret))
      return true;
  return find_walked (policy, source, ret);
}

bool never_find_text (const struct policy *policy, const char *source, struct never_hit *ret)
{
  return find_pattern (without_var (source), ret) || find_listed (policy, source, ret);
}

bool never_ends (const struct evaluation *ev, const struct fact_source *source)
{
  struct never_hit unused;

  return ev->policy->settings[RULE_MOUNT_NEVER] != ACTION_OFF
         && never_find (ev->policy, ev->facts, source, &unused);
}
