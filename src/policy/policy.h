/* SPDX-License-Identifier: Apache-2.0 */
/* The policy in force, and the three things that it does: ask questions, admit, explain.  All but
   policy_load are pure functions.  Contract: policy.md.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ocispec.h"
#include "spec/facts.h"
#include "spec/findings.h"

struct policy; /* profile + file, defaults filled in; owns its memory */

/* ARG: what --policy gave (a path or builtin:NAME) or NULL.  PROGRAM: base name of argv[0]; another
   name than "agentrun" needs /etc/agentrun/PROGRAM.json.  ENGINE_COMMAND: `locked` refuses ARG.
   Errors name file, line and key.  Free with policy_free.  */
int policy_load (const char *arg, const char *program, bool engine_command, struct policy **ret,
                 struct error *err);
void policy_free (struct policy *);

const char *policy_name (const struct policy *); /* "builtin:default" or the file's path */
/* "sha256:…" of the effective policy as JSON.  */
const char *policy_digest (const struct policy *);
bool policy_audit_mode (const struct policy *);

/* What both query and admit know of the request beside the config.  */
struct policy_request
{
  const char *id;
  const char *bundle;    /* absolute */
  unsigned preserve_fds; /* --preserve-fds */
  unsigned listen_fds;   /* LISTEN_FDS */
  bool no_pivot, no_new_keyring;
  bool cgroup_disabled; /* --cgroup-manager=disabled */
  const char *state_root;
};

int policy_query (const struct policy *, const struct oci_config *, const struct policy_request *,
                  struct arena *, struct questions **ret, struct error *err);

/* Whether the facts have a named volume, so that it matters who else writes it: the facts called
   writers are to be filled.  */
bool policy_asks_writers (const struct facts *);

/* A name below the source of a bind that is made read-only by itself (mount.protected).  */
struct protected_path
{
  size_t mount; /* index in the configuration */
  const char *path;
  uint64_t dev, ino; /* of the object that was judged */
};

/* What admission adds to the configuration and config.json has no field for.  */
struct admission
{
  struct oci_config *config; /* a tightened deep copy */
  bool denied;               /* a finding rejects, and the mode is enforce */
  bool baseline;             /* the second seccomp filter in front of the profile */
  char **baseline_allowed;   /* groups of it that grants switch off */
  size_t baseline_allowed_len;
  struct protected_path *protected; /* mount.protected */
  size_t protected_len;
  bool builtin_seccomp;             /* seccomp.missing: the built-in profile */
  bool rootfs_nosuid, rootfs_nodev; /* mount.hardening on the root file system */
  const char
      *late_sockets; /* "enforced", "not enforced by this kernel", NULL if no directory is shared */
};

/* FINDINGS already holds those of parse and validate; admit appends.  Deterministic.  -ENOMEM or 0.
 */
int policy_admit (const struct policy *, const struct oci_config *, const struct facts *,
                  const struct policy_request *, struct arena *, struct findings *,
                  struct admission *ret, struct error *err);

/* An update of resources: what of it is to be written, and what holds afterwards.  */
struct update_admission
{
  struct oci_resources *change; /* without zeros, which mean "as it is", and without devices */
  struct oci_resources *result; /* CHANGE over what was recorded */
  bool denied;
};

/* Rule update.limit.  CURRENT is what the record says, or NULL.  As policy_admit otherwise.  */
int policy_admit_update (const struct policy *, const struct oci_resources *current,
                         const struct oci_resources *asked, struct arena *, struct findings *,
                         struct update_admission *ret, struct error *err);

/* Whether a change of linux.intelRdt passes; else adds the finding that denies it.  */
bool policy_admit_rdt_update (const struct policy *, struct findings *);

/* A process that joins a container (exec): judged by the rules for a container's own process, and
   compared with that one.  */
struct policy_exec_request
{
  const struct oci_process *process;   /* what is asked for, validated */
  const struct oci_process *container; /* the container's own, as it was admitted */
  bool user_namespace;                 /* the container has one */
  unsigned preserve_fds;               /* --preserve-fds */
};

int policy_query_exec (const struct policy *, const struct policy_exec_request *, struct arena *,
                       struct questions **ret, struct error *err);

/* *RET is a tightened deep copy of the process.  As policy_admit otherwise.  */
int policy_admit_exec (const struct policy *, const struct policy_exec_request *,
                       const struct facts *, struct arena *, struct findings *,
                       struct oci_process **ret, bool *ret_denied, struct error *err);

/* The one log line of a denial: at most five findings with rule, message and fix, and the count of
 * the rest.  In the arena.  */
char *policy_denial_line (const struct policy *, const struct findings *, struct arena *);

/* `policy explain RULE`: the text, or NULL for an unknown rule.  Static.  */
struct rule_help
{
  const char *id;
  const char *protects;                     /* what it protects */
  const char *looks_at;                     /* what it looks at */
  const char *docker, *podman, *kubernetes; /* how to satisfy it there */
};
const struct rule_help *policy_explain (const char *rule);
/* All rules in catalogue order, NULL-terminated.  */
const struct rule_help *const *policy_rules (void);

/* The effective policy as JSON (`policy show`).  In the arena.  */
char *policy_to_json (const struct policy *, struct arena *);

/* `policy validate FILE`: 0, or -EINVAL with every problem as one line in *RET (arena).  */
int policy_validate_file (const char *path, struct arena *, char ***ret, size_t *ret_len,
                          struct error *err);

/* `policy suggest`: what would have to be added to the policy for the configuration to be admitted.
   FACTS are the answers to that policy's own questions, INVALID what validation found, which no
   policy decides.  In the arena.  0 or -ENOMEM.  */
struct policy_suggestion
{
  char *json;      /* a policy file with the least that helps, each reason empty */
  size_t items;    /* how many grants, settings and limits are in it */
  char **hopeless; /* "RULE at POINTER: message": what no policy admits */
  size_t hopeless_len;
};
int policy_suggest (const struct policy *, const struct oci_config *, const struct facts *,
                    const struct policy_request *, const struct findings *invalid, struct arena *,
                    struct policy_suggestion *ret, struct error *err);

/* The pod that an engine says a container belongs to, by its annotations, or NULL.  A claim, so it
   only counts together with what agentrun itself recorded when it made a namespace.  */
const char *policy_pod (const struct oci_map *annotations);

/* The pod of a container that was recorded with these annotations, id and arguments: Podman names a
   pod by its infrastructure container, which itself says nothing.  NULL: none.  */
const char *policy_recorded_pod (const struct oci_map *annotations, const char *id,
                                 char *const *args, size_t args_len);
