/* SPDX-License-Identifier: Apache-2.0 */
/* What the files validate*.c share: the checks of the one table in validate.c, and few helpers.
   Pure code. Internal to src/spec.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "spec/validate.h"

/* Looks at one topic and adds findings.  Any member may be absent (NULL): that is what a check is
 * for.  */
typedef void validate_check (const struct oci_config *, struct findings *);

/* validate.c */
validate_check validate_version, validate_platform, validate_root, validate_host_names,
    validate_annotations;
/* validate_process.c */
validate_check validate_process, validate_args, validate_environment, validate_cwd, validate_user,
    validate_console, validate_capabilities, validate_rlimits;
/* validate_scheduling.c */
validate_check validate_scheduling, validate_memory_policy, validate_personality;
/* validate_mounts.c */
validate_check validate_mounts;
/* validate_hooks.c */
validate_check validate_hooks;
/* validate_linux.c */
validate_check validate_namespaces, validate_devices, validate_paths, validate_cgroups_path,
    validate_sysctl, validate_rootfs_propagation, validate_intel_rdt;
/* validate_resources.c */
validate_check validate_memory, validate_cpu, validate_pids, validate_block_io,
    validate_device_rules, validate_huge_pages, validate_network, validate_unified;
/* validate_seccomp.c */
validate_check validate_seccomp;

/* A `reject` finding; POINTER may be made on the spot by pointer_printf.  */
#define reject(findings, rule, pointer, ...)                                                       \
  ((void)finding_add (findings, rule, "reject", pointer, __VA_ARGS__))

/* A field that is set and that this build can't apply.  */
struct unsupported_field
{
  const char *pointer;
  bool set;
};
void reject_unsupported (struct findings *, const struct unsupported_field *, size_t len);

/* validate_linux.c: maps of ids at POINTER, of which there must be some.  */
void validate_id_ranges (const char *pointer, const struct oci_id_mapping *maps, size_t len,
                         struct findings *);

/* Whether WORD is in the NULL-terminated LIST.  */
bool word_in (const char *word, const char *const *list);

/* NULL and "" are the same to the encoders of engines, which leave empty strings out or don't.  */
static inline bool is_empty (const char *s) { return s == NULL || s[0] == '\0'; }

static inline bool is_absolute (const char *path) { return path != NULL && path[0] == '/'; }

/* "NAME=value" with a name.  */
static inline bool is_assignment (const char *entry)
{
  return entry != NULL && entry[0] != '=' && __builtin_strchr (entry, '=') != NULL;
}

/* An entry of linux.namespaces of TYPE, or NULL.  */
const struct oci_namespace *config_namespace (const struct oci_config *, const char *type);
