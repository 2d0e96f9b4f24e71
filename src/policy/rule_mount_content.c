/* SPDX-License-Identifier: Apache-2.0 */
/* Rules mount.shared-writer, mount.credential and mount.token: what a source that may be shown
   holds, and who else can put something into it.  Pure code.  */
#include <string.h>

#include "policy/internal.h"
#include "spec/walk.h"

/* ---- mount.credential ---- */

/* Directories that tools keep their keys and tokens in.  */
static const char *const credential_directories[] = { ".ssh",   ".gnupg",         ".aws",
                                                      ".azure", ".kube",          ".docker",
                                                      "gcloud", ".password-store" };

static bool is_credential_directory (const char *name, size_t len)
{
  for (size_t i = 0; i < ARRAY_SIZE (credential_directories); i++)
    if (strlen (credential_directories[i]) == len
        && strncmp (credential_directories[i], name, len) == 0)
      return true;
  return false;
}

/* A file by its own name, anything by a directory on the way to it.  */
static bool is_credential (const struct fact_source *source)
{
  const char *part = source->path;
  const char *leaf = strrchr (source->path, '/');

  while (*part != '\0')
    {
      size_t len;

      part += strspn (part, "/");
      len = strcspn (part, "/");
      if (is_credential_directory (part, len))
        return true;
      part += len;
    }
  return str_equal (source->kind, "file") && leaf != NULL && is_credential_name (leaf + 1);
}

static void check_credential (struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  const struct fact_walk *walk = source->walk;
  char quoted[STR_QUOTE_MAX], first[STR_QUOTE_MAX];
  struct finding *f = NULL;
  size_t count = 0;

  str_quote (source->path, quoted);
  if (is_credential (source))
    f = ev_report (ev, RULE_MOUNT_CREDENTIAL, ACTION_REJECT, view->source_pointer,
                   "%s is named like credentials", quoted);
  ev_fix (ev, f, "remove the -v of it; give the agent a proxy that holds the credential");
  for (size_t i = 0; walk != NULL && i < walk->found_len; i++)
    if (str_equal (walk->found[i].kind, "credential") && count++ == 0)
      str_quote (walk->found[i].path, first);
  f = NULL;
  if (count > 0)
    f = ev_report (ev, RULE_MOUNT_CREDENTIAL, ACTION_WARN, view->source_pointer,
                   "%s holds %zu entr%s named like credentials, the first is %s", quoted, count,
                   count == 1 ? "y" : "ies", first);
  ev_fix (ev, f, "keep credentials out of what the agent works on");
}

/* ---- mount.token ---- */

static void check_token (struct evaluation *ev, const struct mount_view *view,
                         enum shape_kind shape)
{
  bool by_place = path_glob_covers ("/var/run/secrets/kubernetes.io", view->destination)
                  || path_glob_covers ("/run/secrets/kubernetes.io", view->destination);
  struct finding *f;

  if (shape != SHAPE_TOKEN && !by_place)
    return;
  f = ev_report (ev, RULE_MOUNT_TOKEN, ACTION_REJECT, view->source_pointer,
                 "a Kubernetes service account token is mounted: it speaks to the cluster's API");
  ev_fix (ev, f, "set automountServiceAccountToken: false in the pod");
}

/* ---- mount.shared-writer ---- */

static bool is_own_gid (const struct evaluation *ev, uint32_t gid)
{
  const struct oci_user *user = ev->process->user;

  if (gid == 0 || gid == config_host_gid (ev->config, user->gid))
    return true;
  for (size_t i = 0; i < user->additional_gids_len; i++)
    if (gid == config_host_gid (ev->config, user->additional_gids[i]))
      return true;
  return false;
}

/* Who else writes into the directory, or NULL.  */
static const char *other_writer (const struct evaluation *ev, const struct fact_source *source)
{
  uint32_t uid = config_host_uid (ev->config, ev->process->user->uid);

  if (!source->has_mode || !source->has_uid || !source->has_gid)
    return "somebody unknown";
  if ((source->mode & 0002) != 0)
    return "everybody";
  if (!fact_uid_is_root (ev->facts, source->uid) && source->uid != uid)
    return "its owner";
  if ((source->mode & 0020) != 0 && !is_own_gid (ev, source->gid))
    return "its group";
  return NULL;
}

bool policy_asks_writers (const struct facts *facts)
{
  for (size_t i = 0; i < facts->sources_len; i++)
    if (facts->sources[i].path != NULL && strstr (facts->sources[i].path, "/volumes/") != NULL
        && str_has_suffix (facts->sources[i].path, "/_data"))
      return true;
  return false;
}

/* Another running container that has the same named volume, or NULL.  */
static const char *volume_writer (const struct evaluation *ev, const struct fact_source *source)
{
  const struct facts *facts = ev->facts;

  for (size_t i = 0; i < facts->writers_len; i++)
    if (facts->writers[i].dev == source->dev && facts->writers[i].ino == source->ino
        && !str_equal (facts->writers[i].id, ev->request->id))
      return facts->writers[i].id;
  return NULL;
}

static void check_shared_writer (struct evaluation *ev, const struct mount_view *view,
                                 enum shape_kind shape)
{
  const struct fact_source *source = view->source;
  char quoted[STR_QUOTE_MAX];
  const char *writer;
  struct finding *f;

  if (!str_equal (source->kind, "directory"))
    return;
  /* What was judged is the state at admission.  Nothing in this build keeps the container from
     connecting to a socket that is made there afterwards.  */
  ev->admission->late_sockets = "not enforced by this kernel";
  writer = shape == SHAPE_VOLUME ? volume_writer (ev, source) : NULL;
  if (writer != NULL)
    {
      f = ev_report (ev, RULE_MOUNT_SHARED_WRITER, ACTION_WARN, view->source_pointer,
                     "the volume %s is mounted writable by the running container %s: a socket made "
                     "there later would be reachable",
                     str_quote (source->path, quoted), writer);
      ev_fix (ev, f, "give each container a volume of its own, or mount it :ro in the others");
      return;
    }
  writer = shape == SHAPE_NONE ? other_writer (ev, source) : NULL;
  if (writer == NULL)
    return;
  f = ev_report (ev, RULE_MOUNT_SHARED_WRITER, ACTION_WARN, view->source_pointer,
                 "%s can be written by %s outside of the container: a socket made there later "
                 "would be reachable",
                 str_quote (source->path, quoted), writer);
  ev_fix (ev, f, "mount a directory that only the container's user writes, or a named volume");
}

void check_mount_contents (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_open_binds (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    {
      const struct fact_source *source = views[i].source;
      enum shape_kind shape;

      if (never_ends (ev, source))
        continue; /* mount.never says more */
      shape = shape_find (ev, &views[i]);
      if (shape == SHAPE_NONE || shape == SHAPE_VOLUME)
        check_credential (ev, &views[i]);
      check_token (ev, &views[i], shape);
      check_shared_writer (ev, &views[i], shape);
    }
}
