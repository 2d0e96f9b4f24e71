/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of policy/ share: the policy in force, and the state of one evaluation. Everything
   below but the loading is pure: the same input gives the same verdict.  */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "policy/policy.h"
#include "policy/policy_file.h" /* generated */
#include "policy/rules.h"
#include "spec/answers.h"
#include "spec/mount_options.h"

struct limit_range
{
  uint64_t standard; /* set where the configuration says nothing */
  uint64_t max;
};

/* Bytes, processes, thousandths of a CPU, descriptors.  TMPFS may follow the memory limit instead.
 */
struct policy_values
{
  struct limit_range memory, pids, cpu, tmpfs;
  bool tmpfs_default_is_memory, tmpfs_max_is_memory;
  uint64_t open_files_max;
};

struct policy
{
  struct arena *arena;           /* owns all below */
  char *name;                    /* builtin:default, or the file's path */
  char *digest;                  /* sha256:… of the effective policy as JSON */
  char *file;                    /* NULL for a built-in profile */
  struct policy_file *effective; /* defaults filled in; `rules` lists every rule of this build */
  enum action settings[RULE_COUNT];
  bool raised[RULE_COUNT]; /* strict: warnings and tightenings of the rule become rejections */
  struct policy_values values;
  bool audit;
  bool locked;
  char today[11]; /* YYYY-MM-DD (UTC) at load: grants expire against it, admit has no clock */
};

/* ---- builtin.c ---- */

/* Fills SETTINGS and RAISED for "builtin:default", "builtin:strict", "builtin:permissive"; -ENOENT
   for another name.  */
int builtin_settings (const char *profile, struct policy *policy);

/* The text of the values that every built-in profile has, in the form of a policy file.  */
extern const char builtin_values[];

/* ---- policy_parse.c ---- */

struct problems
{
  struct arena *arena;
  char **lines; /* "FILE:LINE: KEY: what" */
  size_t len, size;
  bool failed; /* memory ran out */
};

void problem_add (struct problems *, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Reads BYTES of FILE over the defaults into POLICY (arena and today are set).  0, -EINVAL with
   problems, or -ENOMEM.  */
int policy_parse (struct policy *policy, const char *file, const char *bytes, size_t len,
                  struct problems *problems);

/* Parts of it, for policy_tighten.c: the text as it is; the settings of `rules` and of the keys
   that stand for one; the values of `limits`; the paths of `never`.  Problems name file, line and
   key.  */
struct policy_text;
int policy_read_text (struct policy *, const struct policy_text *, struct problems *,
                      struct policy_file **ret);
void policy_set_rules (struct policy *, const struct policy_text *, const struct policy_file *,
                       struct problems *);
void policy_read_values (struct policy *, const struct policy_text *, struct problems *);
void policy_check_never (const struct policy_text *, const struct policy_file *, struct problems *);

/* ---- policy_tighten.c ---- */

/* Puts a user's own FILE over the host's policy, which is parsed and not finished: only what
   forbids more.  As policy_parse otherwise.  */
int policy_tighten (struct policy *host, const char *file, const char *bytes, size_t len,
                    struct problems *);

/* ---- policy_parse.c, the end ---- */

/* policy->digest and the rules of policy->effective, after everything else is set.  */
int policy_finish (struct policy *policy);

/* ---- policy_grant.c ---- */

/* Whether each grant of FILE makes sense; problems name it by LINE_OF.  */
struct policy_text
{
  const char *file, *bytes;
  size_t len;
};
void policy_check_grants (const struct policy *, const struct policy_text *,
                          const struct policy_file *, struct problems *);

/* The problem at POINTER: "FILE:LINE: POINTER: what".  */
void policy_problem (const struct policy_text *, struct problems *, const char *pointer,
                     const char *format, ...) __attribute__ ((format (printf, 4, 5)));

/* ---- policy_line.c ---- */

/* The line, from 1, on which the value at POINTER begins in well-formed JSON with comments; of the
   nearest ancestor when POINTER names nothing.  */
unsigned json_line (const char *bytes, size_t len, const char *pointer);

/* ---- policy_value.c ---- */

/* "2GiB" -> bytes, "0.5" -> 500 thousandths, "4096" -> 4096.  ANY is JSON text.  0 or -EINVAL.  */
int value_size (const char *any, uint64_t *ret);
int value_thousandths (const char *any, uint64_t *ret);
int value_count (const char *any, uint64_t *ret);
bool value_is_word (const char *any, const char *word);

/* ---- glob.c ---- */

/* Whether PATH (canonical) is covered by PATTERN: `*` stands for a component or a part of one, a
   last component `**` for any depth below; without it the path itself and all below.  */
bool path_glob_covers (const char *pattern, const char *path);
/* The same, the whole path only.  */
bool path_glob_matches (const char *pattern, const char *path);
/* Whether PATH is a directory above something that PATTERN matches.  */
bool path_glob_above (const char *pattern, const char *path);

/* ---- grants.c ---- */

struct grant_query
{
  const char *kind;
  const char *path; /* of mount, socket, device, hook */
  const char *name; /* of capability, syscall, sysctl, namespace, annotation */
  uint32_t uid;     /* of user */
};

/* The next grant in force behind AFTER (NULL: the first) that covers what is asked for.  */
const struct policy_grant *grant_next (const struct policy *, const struct grant_query *,
                                       const struct policy_grant *after);
/* One that would, had it not expired.  */
const struct policy_grant *grant_expired (const struct policy *, const struct grant_query *);

/* ---- evaluate.c ---- */

struct evaluation
{
  const struct policy *policy;
  const struct facts *facts;
  const struct policy_request *request;
  struct arena *arena;
  struct findings *findings;
  struct admission *admission;
  struct oci_config *config;   /* the working copy; process, process->user and linux are there */
  struct oci_process *process; /* what the process rules judge: config's, or that of an exec */
  const char *process_pointer; /* "/process" */
  const struct oci_process *container; /* of an exec: the container's own; user is there */
  size_t first;                        /* findings before it came from parse and validate */
  unsigned pass;                       /* 0, then once for each time that something was tightened */
  bool changed;                        /* something was tightened in this pass */
};

/* What RULE makes of a finding that weighs NATURAL.  */
enum action rule_action (const struct policy *, enum rule_id rule, enum action natural);

/* Records a finding, weighed by the policy.  NULL when the rule is off or the finding is there
   already.  */
struct finding *ev_report (struct evaluation *, enum rule_id rule, enum action natural,
                           const char *pointer, const char *format, ...)
    __attribute__ ((format (printf, 5, 6)));

/* Sets the fix; FINDING may be NULL.  */
void ev_fix (struct evaluation *, struct finding *finding, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* One tightening: where, JSON before and after, what the user can do himself (used when the policy
   rejects or warns instead).  */
struct tightening
{
  enum rule_id rule;
  const char *pointer;
  const char *old;
  const char *new;
  const char *fix;
};

/* Records it and says whether the caller is to edit the working copy: not in audit mode, and not
   when the rule is set to reject, warn or off.  */
bool ev_tighten (struct evaluation *, const struct tightening *, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Memory of the evaluation; a failure is remembered in findings->failed.  */
void *ev_alloc (struct evaluation *, size_t count, size_t size);
char *ev_printf (struct evaluation *, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* JSON text of a list of strings or numbers; of an object by its type.  */
char *ev_json_strings (struct evaluation *, char *const *items, size_t len);
char *ev_json_numbers (struct evaluation *, const uint32_t *items, size_t len);
char *ev_json (struct evaluation *, const struct oci_type *type, const void *object);

/* What the parser reported as unknown members carries a rule that a policy can set.  */
void ev_weigh_unknown (struct evaluation *);
/* Whether the findings so far deny, by policy's mode.  */
bool ev_is_denied (const struct evaluation *);

/* process_pointer followed by REST.  */
char *ev_process (struct evaluation *, const char *rest);

/* ---- facts.c: answers by pointer; NULL when the question was not answered ---- */

const struct fact_hook *fact_hook_find (const struct facts *, const char *pointer);

/* Whether every directory above the object is owned by root (or ROOT_UID) and written by nobody
   else, so that no user can put another object in its place.  */
bool fact_chain_trusted (const struct facts *, const struct fact_directory *chain, size_t len,
                         uint32_t root_uid);

/* Whether UID is root as seen from here: 0, or the overflow id outside of the initial user
   namespace.  */
bool fact_uid_is_root (const struct facts *, uint32_t uid);

/* ---- config.c: questions that several rules have about the configuration ---- */

/* The entry of TYPE in linux.namespaces, or NULL.  */
const struct oci_namespace *namespace_entry (const struct oci_config *, const char *type);

/* The host's id for the container's ID; ID itself without a user namespace, UINT32_MAX if unmapped.
 */
uint32_t config_host_uid (const struct oci_config *, uint32_t id);
uint32_t config_host_gid (const struct oci_config *, uint32_t id);

/* The lists of hooks by their names; a missing one is empty.  */
#define HOOK_LISTS 6
struct hook_list
{
  const char *name;
  struct oci_hook *hooks;
  size_t len;
};
void config_hook_lists (const struct oci_config *, struct hook_list lists[HOOK_LISTS]);

/* More descriptors than these are refused without a look.  */
#define DESCRIPTORS_MAX 4096

/* Whether a raw cgroup v2 setting is a plain limit within the policy (rule_limit.c).  */
bool unified_is_limit (const struct policy_values *, const char *key, const char *value);
/* Whether a device is one that every container has; -1 is any (rule_device.c).  */
bool device_is_default (const char *type, int64_t major_number, int64_t minor_number);

bool strings_contain (char *const *items, size_t len, const char *item);

/* ---- mounts.c: one mount entry with all that is known of it, for the rules of rule_mount*.c ----
 */

struct mount_view
{
  size_t index;
  struct oci_mount *mount;
  struct mount_options options;
  char *destination;                /* normalised, for comparison only */
  const char *pointer;              /* /mounts/N */
  const char *source_pointer;       /* /mounts/N/source */
  const struct fact_source *source; /* of a bind; NULL when resolve has no answer */
};

/* All mounts of the working copy; 0 or -ENOMEM (remembered in findings).  */
int mount_views (struct evaluation *, struct mount_view **ret, size_t *ret_len);

/* Those that are binds whose source was opened: of the others mount.source speaks.  */
int mount_open_binds (struct evaluation *, struct mount_view **ret, size_t *ret_len);

bool mount_is_readonly (const struct mount_view *);

/* Replaces the options of the view's mount in the working copy.  */
void mount_set_options (struct evaluation *, struct mount_view *, char **options, size_t len);

/* ---- never.c ---- */

/* The paths that query asks about, by index, NULL at the end; the names below each home,
   NULL-terminated.  */
const char *never_path (size_t index);
extern const char *const never_home_names[];

struct never_hit
{
  const char *entry; /* the entry of the list */
  const char *what;  /* what it is, for the message: "the home directory of an account" */
  const char *how;   /* "is", "lies above", "lies below", "contains" … */
  const char *where; /* path below the source, or NULL */
};

/* Whether SOURCE is on, above or below an entry, by path and by object.  */
bool never_find (const struct policy *, const struct facts *, const struct fact_source *,
                 struct never_hit *ret);
/* The same for a source that could not be opened, by its text only: to word the message.  */
bool never_find_text (const struct policy *, const char *source, struct never_hit *ret);

/* Whether mount.never speaks of the source, so that nothing else need be said of it.  */
bool never_ends (const struct evaluation *, const struct fact_source *);

/* ---- shapes.c ---- */

enum shape_kind
{
  SHAPE_NONE,
  SHAPE_ENGINE_FILE, /* hosts, hostname, resolv.conf … */
  SHAPE_SHM,
  SHAPE_INIT,
  SHAPE_VOLUME,     /* a named volume */
  SHAPE_POD_VOLUME, /* emptyDir, configMap … */
  SHAPE_TOKEN       /* a service account token */
};

/* What an engine put there, recognised by place, owner and destination.  */
enum shape_kind shape_find (const struct evaluation *, const struct mount_view *);

/* For a source that looks like an engine's own file but lies below no known data root: what would
   be the root, for the message only; or NULL.  */
const char *shape_root_guess (struct evaluation *, const struct mount_view *);

/* Data roots of engines that are asked for beside those of the policy; NULL-terminated.  */
extern const char *const engine_roots[];
/* Data roots of rootless engines, relative to their user's data home and runtime directory.  */
extern const char *const user_data_roots[];
extern const char *const user_runtime_roots[];

/* Whether NAME is one of the 14 capabilities that engines give by default.  */
bool capability_is_default (const char *name);

/* Names of the host's groups that give power over it; NULL-terminated.  */
extern const char *const host_groups[];

/* ---- rule_exec.c: entries of exec.users and exec.commands in a policy file ---- */

bool policy_exec_user_valid (const char *item);
bool policy_exec_command_valid (const char *item, struct arena *);

/* ---- the rules, one function a family ---- */

typedef void rule_check (struct evaluation *);

rule_check check_request, check_descriptors, check_user, check_capabilities, check_privileges,
    check_seccomp, check_lsm, check_namespaces, check_userns, check_mount_sources,
    check_mount_sockets, check_mount_contents, check_mount_kinds, check_mount_pseudo,
    check_mount_options, check_mount_destinations, check_mount_hardening, check_mount_protected,
    check_rootfs, check_masked_paths, check_cwd, check_devices, check_sysctls, check_limits,
    check_rlimits, check_tmpfs_limits, check_cgroup_path, check_scheduling, check_hooks,
    check_annotations, check_environment, check_image, check_exec;
