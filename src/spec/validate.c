/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the order of validation and the checks of the top level.  Runs in the parent, pure, needs no
   privilege.  A check looks at one topic, tolerates that anything is absent, and never stops the
   others: a user sees all findings at once.  */
#include "spec/validate.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/names.h"
#include "spec/validate_checks.h"

/* The order in which findings are shown: the configuration's own order, as config.md has it.  */
static validate_check *const checks[] = {
  validate_version,
  validate_platform,
  validate_root,
  validate_mounts,
  validate_process,
  validate_args,
  validate_environment,
  validate_cwd,
  validate_user,
  validate_console,
  validate_capabilities,
  validate_rlimits,
  validate_scheduling,
  validate_host_names,
  validate_hooks,
  validate_annotations,
  validate_namespaces,
  validate_devices,
  validate_cgroups_path,
  validate_memory,
  validate_cpu,
  validate_pids,
  validate_block_io,
  validate_device_rules,
  validate_huge_pages,
  validate_network,
  validate_unified,
  validate_sysctl,
  validate_seccomp,
  validate_paths,
  validate_rootfs_propagation,
  validate_memory_policy,
  validate_personality,
  validate_intel_rdt,
};

void spec_validate (const struct oci_config *config, struct findings *findings)
{
  for (size_t i = 0; i < ARRAY_SIZE (checks); i++)
    checks[i](config, findings);
}

void reject_unsupported (struct findings *findings, const struct unsupported_field *fields,
                         size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (fields[i].set)
      reject (findings, "config.unsupported", fields[i].pointer,
              "%s is set, and this build can't apply it", fields[i].pointer);
}

bool word_in (const char *word, const char *const *list)
{
  for (; word != NULL && *list != NULL; list++)
    if (strcmp (word, *list) == 0)
      return true;
  return false;
}

const struct oci_namespace *config_namespace (const struct oci_config *config, const char *type)
{
  const struct oci_linux *l = config->linux;

  for (size_t i = 0; l != NULL && i < l->namespaces_len; i++)
    if (str_equal (l->namespaces[i].type, type))
      return &l->namespaces[i];
  return NULL;
}

/* ---- ociVersion ---- */

/* Skips one number without a leading zero, semver.org item 2.  */
static const char *skip_number (const char *s)
{
  size_t digits = strspn (s, "0123456789");

  return digits == 0 || (digits > 1 && s[0] == '0') ? NULL : s + digits;
}

static bool is_semver (const char *s)
{
  static const char tail[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.+";

  for (int part = 0; part < 3; part++)
    {
      s = skip_number (s);
      if (s == NULL || (part < 2 && *s++ != '.'))
        return false;
    }
  if (*s == '\0')
    return true;
  return (*s == '-' || *s == '+') && s[1] != '\0' && strspn (s, tail) == strlen (s);
}

void validate_version (const struct oci_config *config, struct findings *findings)
{
  const char *version = config->oci_version;
  char quoted[STR_QUOTE_MAX];

  if (is_empty (version))
    reject (findings, "json.version", "/ociVersion", "ociVersion is missing");
  else if (!is_semver (version))
    reject (findings, "json.version", "/ociVersion",
            "ociVersion \"%s\" is no version of the form 1.2.0", str_quote (version, quoted));
  else if (!str_has_prefix (version, "1."))
    reject (findings, "json.version", "/ociVersion",
            "ociVersion \"%s\" is of another generation: this runtime implements 1.x",
            str_quote (version, quoted));
}

/* ---- other platforms ---- */

/* windows, solaris, freebsd and zos are other platforms' business, and config.md lets them be
   there. vm is not: a bundle with it expects the isolation of a virtual machine.  */
void validate_platform (const struct oci_config *config, struct findings *findings)
{
  const struct unsupported_field fields[] = { { "/vm", config->vm != NULL } };

  reject_unsupported (findings, fields, ARRAY_SIZE (fields));
}

void validate_root (const struct oci_config *config, struct findings *findings)
{
  if (config->root == NULL)
    reject (findings, "rootfs.path", "/root", "root is missing");
  else if (is_empty (config->root->path))
    reject (findings, "rootfs.path", "/root/path", "root.path is missing");
}

/* ---- hostname, domainname ---- */

static void check_host_name (const struct oci_config *config, const char *pointer, const char *name,
                             struct findings *findings)
{
  enum
  {
    UTS_NAME_MAX = 64 /* __NEW_UTS_LEN, sethostname(2) */
  };

  if (is_empty (name))
    return;
  if (config_namespace (config, "uts") == NULL)
    reject (findings, "config.invalid", pointer,
            "%s is set without a uts namespace: it would rename the host", pointer + 1);
  if (strlen (name) > UTS_NAME_MAX)
    reject (findings, "config.invalid", pointer, "%s is longer than %d bytes", pointer + 1,
            UTS_NAME_MAX);
}

void validate_host_names (const struct oci_config *config, struct findings *findings)
{
  check_host_name (config, "/hostname", config->hostname, findings);
  check_host_name (config, "/domainname", config->domainname, findings);
}

void validate_annotations (const struct oci_config *config, struct findings *findings)
{
  for (size_t i = 0; i < config->annotations.len; i++)
    if (is_empty (config->annotations.keys[i]))
      reject (findings, "config.invalid", "/annotations", "an annotation has an empty name");
}

/* ---- the id ---- */

int container_id_check (const char *id, struct error *err)
{
  static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  char quoted[STR_QUOTE_MAX];
  size_t len;

  if (is_empty (id))
    return error_set (err, -EINVAL, "container.id: the container ID is empty");
  len = strlen (id);
  if (len > 128)
    return error_set (err, -EINVAL, "container.id: container ID \"%s\" is longer than 128 bytes",
                      str_quote (id, quoted));
  if (strchr (first, id[0]) == NULL || strspn (id, rest) != len)
    return error_set (
        err, -EINVAL,
        "container.id: invalid character in container ID \"%s\": it is letters, digits and "
        "_.+-, and begins with a letter, a digit or _",
        str_quote (id, quoted));
  return 0;
}
