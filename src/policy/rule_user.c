/* SPDX-License-Identifier: Apache-2.0 */
/* Rules user.*: root, group 0, groups that give power over the host, and the pause container.
   Pure code.  */
#include <string.h>

#include "policy/internal.h"

#define NOBODY_ID 65534 /* for a group that must be somebody's and not the host's */
#define PAUSE_ID  65535 /* what the pause images of Kubernetes use */

const char *const host_groups[] = {
  "adm",    "admin", "containerd",      "disk",         "docker", "incus",  "incus-admin",
  "kmem",   "kvm",   "libvirt",         "libvirt-qemu", "lxd",    "podman", "root",
  "shadow", "sudo",  "systemd-journal", "wheel",        NULL
};

#define USER_FIX                                                                                   \
  "add --user 1000:1000 (Kubernetes: runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true)"

/* ---- the pod infrastructure container ---- */

static const char *const pause_args[][3] = {
  { "/catatonit", "-P", NULL },
  { "/pause", NULL, NULL },
};

static bool is_pause (char *const *args, size_t len)
{
  for (size_t i = 0; i < ARRAY_SIZE (pause_args); i++)
    {
      size_t n = 0;

      while (pause_args[i][n] != NULL && n < len && str_equal (pause_args[i][n], args[n]))
        n++;
      if (pause_args[i][n] == NULL && n == len)
        return true;
    }
  return false;
}

const char *policy_recorded_pod (const struct oci_map *annotations, const char *id,
                                 char *const *args, size_t args_len)
{
  const char *pod = policy_pod (annotations);
  return pod == NULL && is_pause (args, args_len) ? id : pod;
}

/* Podman has no option for it, and what only waits has nothing to write.  */
static void tighten_pause_root (struct evaluation *ev)
{
  struct oci_root *root = ev->container != NULL ? NULL : ev->config->root;
  struct tightening t = {
    .rule = RULE_USER_PAUSE,
    .pointer = "/root/readonly",
    .old = "false",
    .new = "true",
    .fix =
        "nothing to do: engines have no option for the root file system of a pod's own container",
  };

  if (root == NULL || (root->has_readonly && root->readonly))
    return;
  if (ev_tighten (ev, &t, "the root file system of the pod's pause container is writable"))
    root->has_readonly = root->readonly = true;
}

/* Podman runs it as root although it does nothing but wait: any user will do.  */
static bool check_pause (struct evaluation *ev)
{
  struct oci_process *process = ev->process;
  struct oci_user *user = process->user;
  struct tightening t = {
    .rule = RULE_USER_PAUSE,
    .pointer = ev_process (ev, "/user"),
    .old = ev_json (ev, &oci_user_type, user),
    .new = "{\"uid\":65535,\"gid\":65535}",
    .fix = "give the pause container a user of its own (Kubernetes images do)",
  };

  if (!is_pause (process->args, process->args_len) || !user->has_uid || user->uid != 0)
    return false;
  if (rule_action (ev->policy, RULE_USER_PAUSE, ACTION_TIGHTEN) == ACTION_OFF)
    return false;
  if (ev_tighten (ev, &t, "the pod's pause process would run as root"))
    {
      *user =
          (struct oci_user){ .has_uid = true, .uid = PAUSE_ID, .has_gid = true, .gid = PAUSE_ID };
      process->capabilities = ev_alloc (ev, 1, sizeof *process->capabilities);
    }
  tighten_pause_root (ev);
  return true;
}

/* ---- root ---- */

static bool user_granted (const struct evaluation *ev, uint32_t uid,
                          const struct policy_grant **ret_expired)
{
  struct grant_query query = { .kind = "user", .uid = uid };

  *ret_expired = grant_expired (ev->policy, &query);
  return grant_next (ev->policy, &query, NULL) != NULL;
}

static void check_root (struct evaluation *ev)
{
  const struct oci_user *user = ev->process->user;
  const struct policy_grant *expired = NULL;
  char *pointer = ev_process (ev, "/user/uid");
  struct finding *f = NULL;

  if (!user->has_uid)
    f = ev_report (ev, RULE_USER_ROOT, ACTION_REJECT, pointer, "no user is set, which means root");
  else if (user->uid == UINT32_MAX)
    f = ev_report (ev, RULE_USER_ROOT, ACTION_REJECT, pointer,
                   "uid 4294967295 means \"unchanged\" to the kernel and would leave root");
  else if (user->uid == 0 && !user_granted (ev, 0, &expired))
    f = ev_report (ev, RULE_USER_ROOT, ACTION_REJECT, pointer,
                   "the process would run as root (uid 0)%s%s",
                   expired == NULL ? "" : "; the grant for it expired on ",
                   expired == NULL ? "" : expired->expires);
  ev_fix (ev, f, USER_FIX);
}

/* ---- groups ---- */

static const struct fact_group *host_group (const struct facts *facts, uint32_t gid)
{
  const struct fact_host *host = facts->host;

  for (size_t i = 0; host != NULL && i < host->groups_len; i++)
    if (host->groups[i].has_gid && host->groups[i].gid == gid)
      return &host->groups[i];
  return NULL;
}

/* The additional groups without those for which DROP says so.  */
static size_t filter_groups (struct evaluation *ev, bool (*drop) (struct evaluation *, uint32_t),
                             uint32_t **ret)
{
  struct oci_user *user = ev->process->user;
  uint32_t *kept = ev_alloc (ev, user->additional_gids_len + 1, sizeof *kept);
  size_t len = 0;

  for (size_t i = 0; kept != NULL && i < user->additional_gids_len; i++)
    if (!drop (ev, user->additional_gids[i]))
      kept[len++] = user->additional_gids[i];
  *ret = kept;
  return len;
}

static void drop_groups (struct evaluation *ev, enum rule_id rule, const char *what,
                         bool (*drop) (struct evaluation *, uint32_t), const char *fix)
{
  struct oci_user *user = ev->process->user;
  uint32_t *kept;
  size_t len = filter_groups (ev, drop, &kept);

  if (kept == NULL || len == user->additional_gids_len)
    return;

  struct tightening t = {
    .rule = rule,
    .pointer = ev_process (ev, "/user/additionalGids"),
    .old = ev_json_numbers (ev, user->additional_gids, user->additional_gids_len),
    .new = ev_json_numbers (ev, kept, len),
    .fix = fix,
  };
  if (ev_tighten (ev, &t, "%s", what))
    {
      user->additional_gids = kept;
      user->additional_gids_len = len;
    }
}

static bool is_zero (struct evaluation *ev, uint32_t gid)
{
  (void)ev;
  return gid == 0;
}

/* `docker run -u 1000` sends gid 0 when the image's passwd doesn't know the user: nobody asked for
   it, so it is taken away.  Beside another gid somebody did.  */
static void check_group_zero (struct evaluation *ev)
{
  struct oci_user *user = ev->process->user;
  bool gid_zero = !user->has_gid || user->gid == 0;
  uint32_t gid = host_group (ev->facts, user->uid) != NULL ? NOBODY_ID : user->uid;
  bool zero_among = false;

  for (size_t i = 0; i < user->additional_gids_len; i++)
    zero_among |= user->additional_gids[i] == 0;
  if (!gid_zero)
    {
      struct finding *f = NULL;

      if (zero_among)
        f = ev_report (ev, RULE_USER_GROUP_ZERO, ACTION_REJECT,
                       ev_process (ev, "/user/additionalGids"),
                       "group 0 is among the supplementary groups: files of root's group would be "
                       "open to it");
      ev_fix (ev, f, "remove --group-add 0 (Kubernetes: supplementalGroups, fsGroup)");
      return;
    }

  drop_groups (ev, RULE_USER_GID_ZERO, "root's group is among the supplementary groups", is_zero,
               "add --user UID:GID with a group of its own");
  struct tightening t = {
    .rule = RULE_USER_GID_ZERO,
    .pointer = ev_process (ev, "/user/gid"),
    .old = "0",
    .new = ev_printf (ev, "%u", gid),
    .fix = "add --user UID:GID with a group of its own",
  };
  if (ev_tighten (ev, &t, "the primary group is root's (gid 0)"))
    {
      user->has_gid = true;
      user->gid = gid;
    }
}

static bool is_host_group (struct evaluation *ev, uint32_t gid)
{
  return gid != 0 && host_group (ev->facts, gid) != NULL;
}

static void check_host_groups (struct evaluation *ev)
{
  const struct fact_host *host = ev->facts->host;
  struct oci_user *user = ev->process->user;
  const struct fact_group *group;
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  /* The ids are other ones on the host then.  */
  if (namespace_entry (ev->config, "user") != NULL)
    return;
  if (host == NULL || !host->has_groups || host->groups_error != NULL)
    {
      ev_report (ev, RULE_USER_HOST_GROUP, ACTION_REJECT, ev_process (ev, "/user"),
                 "the host's groups could not be read (%s), so that no gid can be judged",
                 host == NULL || host->groups_error == NULL
                     ? "no answer"
                     : str_quote (host->groups_error, quoted));
      return;
    }
  drop_groups (ev, RULE_USER_HOST_GROUP,
               "a supplementary group is one that gives power over the host (docker, disk, shadow "
               "and the like)",
               is_host_group, "remove the --group-add of it");
  group = user->has_gid && user->gid != 0 ? host_group (ev->facts, user->gid) : NULL;
  if (group == NULL)
    return;
  f = ev_report (ev, RULE_USER_HOST_GROUP, user->gid == user->uid ? ACTION_WARN : ACTION_REJECT,
                 ev_process (ev, "/user/gid"),
                 "gid %u is the host's group %s, which gives power over the host", user->gid,
                 str_quote (group->name, quoted));
  ev_fix (ev, f, "choose another group with --user UID:GID (Kubernetes: runAsGroup)");
}

void check_user (struct evaluation *ev)
{
  const struct oci_user *user = ev->process->user;

  if (check_pause (ev))
    return;
  check_root (ev);
  /* Root's own group is no further finding on root.  */
  if (user->has_uid && user->uid != 0)
    check_group_zero (ev);
  check_host_groups (ev);
}
