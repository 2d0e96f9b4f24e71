/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of rules (policy.md, "Rules"): id, what builtin:default does, what a policy file
   may set, and the flags that profiles go by.  Pure data.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a rule is set to, and how much one finding weighs.  */
enum action
{
  ACTION_OFF, /* of a finding: there is none */
  ACTION_WARN,
  ACTION_TIGHTEN,
  ACTION_REJECT
};

enum
{
  MAY_WARN = 1 << ACTION_WARN,
  MAY_TIGHTEN = 1 << ACTION_TIGHTEN,
  MAY_REJECT = 1 << ACTION_REJECT,
  MAY_OFF = 1 << ACTION_OFF,

  /* The usual sets.  A rule that can't tighten can't be set to it.  */
  SET_R = MAY_REJECT | MAY_WARN | MAY_OFF,
  SET_T = SET_R | MAY_TIGHTEN,
  SET_W = SET_R,
  SET_FIXED = MAY_REJECT
};

enum
{
  RULE_STARRED = 1, /* strict leaves it alone: it only adds protection, or only informs */
  RULE_FIXED = 2,   /* holds in every profile and mode */
  RULE_UNBUILT = 4  /* in the catalogue, not in this build: refused in a policy file */
};

/* Symbol, id, setting in builtin:default, settings allowed, flags; in catalogue order.  A rule with
   findings of different weight has here the setting under which each keeps its own weight.  */
#define POLICY_RULES(X)                                                                            \
  X (JSON_SYNTAX, "json.syntax", REJECT, SET_FIXED, RULE_FIXED)                                    \
  X (JSON_DUPLICATE, "json.duplicate", REJECT, SET_FIXED, RULE_FIXED)                              \
  X (JSON_CASE, "json.case", REJECT, SET_FIXED, RULE_FIXED)                                        \
  X (JSON_TYPE, "json.type", REJECT, SET_FIXED, RULE_FIXED)                                        \
  X (JSON_SIZE, "json.size", REJECT, SET_FIXED, RULE_FIXED)                                        \
  X (JSON_UNKNOWN, "json.unknown", WARN, SET_W, RULE_STARRED)                                      \
  X (JSON_VERSION, "json.version", REJECT, SET_FIXED, RULE_FIXED)                                  \
  X (BUNDLE_OWNER, "bundle.owner", REJECT, SET_R, 0)                                               \
  X (CONTAINER_ID, "container.id", REJECT, SET_FIXED, RULE_FIXED)                                  \
  X (CLI_UNSAFE, "cli.unsafe", REJECT, SET_R, 0)                                                   \
  X (PROCESS_DESCRIPTOR, "process.descriptor", REJECT, SET_R, 0)                                   \
  X (USER_PAUSE, "user.pause", TIGHTEN, SET_T, 0)                                                  \
  X (USER_ROOT, "user.root", REJECT, SET_R, 0)                                                     \
  X (USER_GID_ZERO, "user.gid-zero", TIGHTEN, SET_T, 0)                                            \
  X (USER_GROUP_ZERO, "user.group-zero", REJECT, SET_R, 0)                                         \
  X (USER_HOST_GROUP, "user.host-group", TIGHTEN, SET_T, 0)                                        \
  X (CAPABILITY_EXTRA, "capability.extra", REJECT, SET_R, 0)                                       \
  X (CAPABILITY_DEFAULT, "capability.default", TIGHTEN, SET_T, 0)                                  \
  X (PRIVILEGE_NEW_PRIVILEGES, "privilege.new-privileges", TIGHTEN, SET_T, 0)                      \
  X (SECCOMP_MISSING, "seccomp.missing", TIGHTEN, SET_T, 0)                                        \
  X (SECCOMP_ALLOW_ALL, "seccomp.allow-all", REJECT, SET_R, 0)                                     \
  X (SECCOMP_NOTIFY, "seccomp.notify", REJECT, SET_R, 0)                                           \
  X (SECCOMP_FLAG, "seccomp.flag", TIGHTEN, SET_T, 0)                                              \
  X (SECCOMP_BASELINE, "seccomp.baseline", TIGHTEN, MAY_TIGHTEN | MAY_WARN | MAY_OFF,              \
     RULE_STARRED)                                                                                 \
  X (LSM_UNCONFINED, "lsm.unconfined", REJECT, SET_R, 0)                                           \
  X (LSM_MISSING, "lsm.missing", WARN, SET_W, 0)                                                   \
  X (NAMESPACE_HOST, "namespace.host", REJECT, SET_R, 0)                                           \
  X (NAMESPACE_ENTRY, "namespace.entry", REJECT, SET_R, 0)                                         \
  X (NAMESPACE_FOREIGN, "namespace.foreign", REJECT, SET_R, 0)                                     \
  X (NAMESPACE_CGROUP, "namespace.cgroup", TIGHTEN, SET_T, RULE_STARRED)                           \
  X (USERNS_MAPPING, "userns.mapping", REJECT, SET_R, 0)                                           \
  X (MOUNT_SOURCE, "mount.source", REJECT, SET_R, 0)                                               \
  X (MOUNT_NEVER, "mount.never", REJECT, MAY_REJECT, 0)                                            \
  X (MOUNT_SOCKET, "mount.socket", REJECT, SET_R, 0)                                               \
  X (MOUNT_SHARED_WRITER, "mount.shared-writer", WARN, SET_W, 0)                                   \
  X (MOUNT_CREDENTIAL, "mount.credential", REJECT, SET_R, 0)                                       \
  X (MOUNT_TOKEN, "mount.token", REJECT, SET_R, 0)                                                 \
  X (MOUNT_MODE, "mount.mode", REJECT, SET_R, 0)                                                   \
  X (MOUNT_FOREIGN, "mount.foreign", REJECT, SET_R, 0)                                             \
  X (MOUNT_TYPE, "mount.type", REJECT, SET_R, 0)                                                   \
  X (MOUNT_PSEUDO, "mount.pseudo", TIGHTEN, SET_T, 0)                                              \
  X (MOUNT_OPTION, "mount.option", REJECT, SET_R, 0)                                               \
  X (MOUNT_HARDENING, "mount.hardening", TIGHTEN, SET_T, RULE_STARRED)                             \
  X (MOUNT_PROTECTED, "mount.protected", TIGHTEN, SET_T, RULE_STARRED)                             \
  X (MOUNT_PROPAGATION, "mount.propagation", TIGHTEN, SET_T, 0)                                    \
  X (MOUNT_IDMAP, "mount.idmap", REJECT, SET_R, 0)                                                 \
  X (MOUNT_DESTINATION, "mount.destination", REJECT, SET_R, 0)                                     \
  X (ROOTFS_PATH, "rootfs.path", REJECT, SET_R, 0)                                                 \
  X (ROOTFS_SHAPE, "rootfs.shape", REJECT, SET_R, 0)                                               \
  X (ROOTFS_READONLY, "rootfs.readonly", REJECT, SET_R, 0)                                         \
  X (ROOTFS_PROPAGATION, "rootfs.propagation", TIGHTEN, SET_T, RULE_STARRED)                       \
  X (PATH_MASKED, "path.masked", TIGHTEN, SET_T, RULE_STARRED)                                     \
  X (PROCESS_CWD, "process.cwd", REJECT, SET_R, 0)                                                 \
  X (DEVICE_NODE, "device.node", REJECT, SET_R, 0)                                                 \
  X (DEVICE_CGROUP, "device.cgroup", TIGHTEN, SET_T, RULE_STARRED)                                 \
  X (DEVICE_NETWORK, "device.network", REJECT, SET_R, 0)                                           \
  X (SYSCTL_NAME, "sysctl.name", REJECT, SET_R, 0)                                                 \
  X (LIMIT_MEMORY, "limit.memory", TIGHTEN, SET_T, RULE_STARRED)                                   \
  X (LIMIT_PIDS, "limit.pids", TIGHTEN, SET_T, RULE_STARRED)                                       \
  X (LIMIT_CPU, "limit.cpu", TIGHTEN, SET_T, RULE_STARRED)                                         \
  X (LIMIT_TMPFS, "limit.tmpfs", TIGHTEN, SET_T, RULE_STARRED)                                     \
  X (LIMIT_OPEN_FILES, "limit.open-files", REJECT, SET_R, 0)                                       \
  X (LIMIT_UNIFIED, "limit.unified", REJECT, SET_R, 0)                                             \
  X (LIMIT_OOM, "limit.oom", TIGHTEN, SET_T, 0)                                                    \
  X (LIMIT_RLIMIT, "limit.rlimit", TIGHTEN, SET_T, RULE_STARRED)                                   \
  X (LIMIT_UNENFORCED, "limit.unenforced", REJECT, SET_R, 0)                                       \
  X (LIMIT_WALL_CLOCK, "limit.wall-clock", TIGHTEN, SET_T, RULE_UNBUILT)                           \
  X (CGROUP_PATH, "cgroup.path", REJECT, SET_R, 0)                                                 \
  X (SCHEDULING_SPECIAL, "scheduling.special", REJECT, SET_R, 0)                                   \
  X (HOOK_PATH, "hook.path", REJECT, SET_R, 0)                                                     \
  X (ANNOTATION_UNSAFE, "annotation.unsafe", REJECT, SET_R, 0)                                     \
  X (ENVIRONMENT_LOADER, "environment.loader", WARN, SET_W, RULE_STARRED)                          \
  X (ENVIRONMENT_SECRET, "environment.secret", WARN, SET_W, RULE_STARRED)                          \
  X (IMAGE_DIGEST, "image.digest", WARN, SET_W, RULE_STARRED)                                      \
  X (EXEC_PROCESS, "exec.process", REJECT, SET_R, 0)                                               \
  X (UPDATE_LIMIT, "update.limit", REJECT, SET_R, 0)                                               \
  X (CHECKPOINT_USE, "checkpoint.use", REJECT, SET_R, RULE_UNBUILT)                                \
  X (LIFECYCLE_RECORD, "lifecycle.record", REJECT, SET_FIXED, RULE_FIXED)

enum rule_id
{
#define RULE_SYMBOL(symbol, id, setting, allowed, flags) RULE_##symbol,
  POLICY_RULES (RULE_SYMBOL)
#undef RULE_SYMBOL
      RULE_COUNT
};

struct rule
{
  const char *id;
  enum action standard;
  unsigned allowed; /* MAY_* */
  unsigned flags;   /* RULE_* */
};

extern const struct rule rules[RULE_COUNT];

/* "user.root" -> its index, or -1.  */
int rule_find (const char *id);

/* "reject", "tighten", "warn", "off"; static.  */
const char *action_name (enum action action);
/* The reverse; -1 for another word.  */
int action_parse (const char *name);
