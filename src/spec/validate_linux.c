/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `linux` but resources and seccomp (config-linux.md).  Pure, needs no
 * privilege.  */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "spec/names.h"
#include "spec/validate_checks.h"

/* ---- namespaces ---- */

static void check_namespace (const struct oci_namespace *n, size_t i, uint32_t *seen,
                             struct findings *findings)
{
  char *pointer = pointer_printf (findings->arena, "/linux/namespaces/%zu", i);
  uint32_t flag = namespace_flag (n->type);
  char quoted[STR_QUOTE_MAX];

  if (flag == 0)
    {
      reject (findings, "namespace.entry", pointer, "namespace type \"%s\" is unknown",
              str_quote (n->type == NULL ? "" : n->type, quoted));
      return;
    }
  if ((*seen & flag) != 0)
    reject (findings, "namespace.entry", pointer, "a %s namespace is listed twice", n->type);
  *seen |= flag;
  if (is_empty (n->path))
    return;
  if (!is_absolute (n->path))
    reject (findings, "namespace.entry", pointer,
            "the path of the %s namespace, \"%s\", is not absolute", n->type,
            str_quote (n->path, quoted));
  /* Its root is somebody else's: what is mounted there was never judged.  */
  if (str_equal (n->type, "mount"))
    reject (findings, "namespace.entry", pointer,
            "a mount namespace can't be joined by path: a container gets its own");
}

/* The kernel's limit of lines in a map, user_namespaces(7).  */
#define ID_MAPPINGS_MAX 340

static bool is_id_range (const struct oci_id_mapping *m)
{
  return m->has_container_id && m->has_host_id && m->has_size && m->size > 0
         && (uint64_t)m->container_id + m->size <= UINT32_MAX
         && (uint64_t)m->host_id + m->size <= UINT32_MAX;
}

void validate_id_ranges (const char *pointer, const struct oci_id_mapping *maps, size_t len,
                         struct findings *findings)
{
  if (pointer == NULL)
    {
      findings->failed = true;
      return;
    }
  if (len == 0)
    reject (findings, "config.invalid", pointer, "%s is empty: users and groups are mapped both",
            pointer + 1);
  if (len > ID_MAPPINGS_MAX)
    reject (findings, "config.invalid", pointer, "%s has %zu ranges, the kernel takes %d",
            pointer + 1, len, ID_MAPPINGS_MAX);
  for (size_t i = 0; i < len; i++)
    if (!is_id_range (&maps[i]))
      reject (findings, "config.invalid", pointer_printf (findings->arena, "%s/%zu", pointer, i),
              "entry %zu of %s is no range of ids", i, pointer + 1);
}

static void check_id_mappings (const char *name, const struct oci_id_mapping *maps, size_t len,
                               bool has_namespace, struct findings *findings)
{
  char *pointer = pointer_printf (findings->arena, "/linux/%s", name);

  if (!has_namespace && len > 0)
    reject (findings, "config.invalid", pointer, "linux.%s is given without a user namespace",
            name);
  if (len > ID_MAPPINGS_MAX)
    reject (findings, "config.invalid", pointer, "linux.%s has %zu ranges, the kernel takes %d",
            name, len, ID_MAPPINGS_MAX);
  for (size_t i = 0; i < len; i++)
    if (!is_id_range (&maps[i]))
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/%s/%zu", name, i),
              "entry %zu of linux.%s is no range of ids", i, name);
}

static void check_user_namespace (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;
  const struct oci_namespace *user = config_namespace (config, "user");

  if (l == NULL)
    return;
  /* Without any, a new one maps the process's own ids to those of the caller, and of one that is
     joined its own maps are taken, see plan/make_linux.c.  */
  if (user != NULL && (l->uid_mappings_len == 0) != (l->gid_mappings_len == 0))
    reject (findings, "config.invalid",
            l->uid_mappings_len == 0 ? "/linux/uidMappings" : "/linux/gidMappings",
            "linux.%s is missing: a user namespace maps users and groups both, or neither",
            l->uid_mappings_len == 0 ? "uidMappings" : "gidMappings");
  check_id_mappings ("uidMappings", l->uid_mappings, l->uid_mappings_len, user != NULL, findings);
  check_id_mappings ("gidMappings", l->gid_mappings, l->gid_mappings_len, user != NULL, findings);
}

/* time_namespaces(7).  */
static void check_time_offsets (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;
  const struct oci_namespace *time = config_namespace (config, "time");
  char quoted[STR_QUOTE_MAX];

  if (l == NULL || l->time_offsets.len == 0)
    return;
  if (time == NULL || !is_empty (time->path))
    reject (findings, "config.invalid", "/linux/timeOffsets",
            "linux.timeOffsets is given without a new time namespace");
  for (size_t i = 0; i < l->time_offsets.len; i++)
    {
      const char *clock = l->time_offsets.keys[i];

      if (!str_equal (clock, "monotonic") && !str_equal (clock, "boottime"))
        reject (findings, "config.invalid", "/linux/timeOffsets",
                "\"%s\" is no clock with an offset: monotonic and boottime are",
                str_quote (clock, quoted));
      else if (l->time_offsets.values[i].nanosecs > 999999999)
        reject (findings, "config.invalid", "/linux/timeOffsets",
                "the offset of the clock %s has more than 999999999 nanoseconds", clock);
    }
}

/* What the kernel takes for the name of an interface (dev_valid_name).  */
static bool is_interface_name (const char *name)
{
  return !is_empty (name) && strlen (name) < 16 && strcmp (name, ".") != 0
         && strcmp (name, "..") != 0 && strpbrk (name, "/: \t\n\v\f\r%") == NULL;
}

static void check_net_devices (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;
  char quoted[STR_QUOTE_MAX];

  if (l == NULL || l->net_devices.len == 0)
    return;
  if (config_namespace (config, "network") == NULL)
    reject (findings, "config.invalid", "/linux/netDevices",
            "linux.netDevices is given without a network namespace to move them into");
  for (size_t i = 0; i < l->net_devices.len; i++)
    {
      const char *to = l->net_devices.values[i].name;

      if (!is_interface_name (l->net_devices.keys[i]))
        reject (findings, "config.invalid", "/linux/netDevices",
                "\"%s\" is no name of a network interface",
                str_quote (l->net_devices.keys[i], quoted));
      if (!is_empty (to) && !is_interface_name (to))
        reject (findings, "config.invalid", "/linux/netDevices",
                "\"%s\" is no name of a network interface", str_quote (to, quoted));
    }
}

void validate_namespaces (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;
  uint32_t seen = 0;

  for (size_t i = 0; l != NULL && i < l->namespaces_len; i++)
    check_namespace (&l->namespaces[i], i, &seen, findings);
  check_user_namespace (config, findings);
  check_time_offsets (config, findings);
  check_net_devices (config, findings);
  if (config_namespace (config, "mount") == NULL)
    reject (findings, "namespace.host", "/linux/namespaces",
            "no mount namespace: the container's mounts would be the host's");
}

/* ---- devices ---- */

static bool is_device_number (bool has, int64_t number, int64_t max)
{
  return has && number >= 0 && number <= max;
}

static void check_device (const struct oci_device *d, size_t i, struct findings *findings)
{
  static const char *const types[] = { "c", "u", "b", "p", NULL };
  enum
  {
    MAJOR_MAX = 0xfff, /* MINORBITS of the kernel is 20: 12 bits are left for the major number */
    MINOR_MAX = 0xfffff,
    MODE_MAX = S_IFMT | 07777 /* engines copy st_mode, type bits included */
  };
  char *pointer = pointer_printf (findings->arena, "/linux/devices/%zu", i);
  char quoted[STR_QUOTE_MAX];

  str_quote (d->path == NULL ? "" : d->path, quoted);
  if (!is_absolute (d->path))
    reject (findings, "config.invalid", pointer, "device path \"%s\" is not absolute", quoted);
  if (!word_in (d->type, types))
    reject (findings, "config.invalid", pointer, "device \"%s\" has a type other than c, u, b, p",
            quoted);
  else if (strcmp (d->type, "p") != 0
           && (!is_device_number (d->has_major, d->major, MAJOR_MAX)
               || !is_device_number (d->has_minor, d->minor, MINOR_MAX)))
    reject (findings, "config.invalid", pointer, "device \"%s\" needs a major and a minor number",
            quoted);
  if (d->has_file_mode && d->file_mode > MODE_MAX)
    reject (findings, "config.invalid", pointer, "device \"%s\" has fileMode %u, which is no mode",
            quoted, d->file_mode);
  if ((d->has_uid && d->uid == UINT32_MAX) || (d->has_gid && d->gid == UINT32_MAX))
    reject (findings, "config.invalid", pointer, "device \"%s\" has 4294967295 as owner", quoted);
}

void validate_devices (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;

  for (size_t i = 0; l != NULL && i < l->devices_len; i++)
    check_device (&l->devices[i], i, findings);
}

/* ---- paths ---- */

static void check_path_list (const char *name, char **paths, size_t len, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < len; i++)
    if (!is_absolute (paths[i]))
      reject (
          findings, "config.invalid", pointer_printf (findings->arena, "/linux/%s/%zu", name, i),
          "entry \"%s\" of linux.%s is not an absolute path", str_quote (paths[i], quoted), name);
}

void validate_paths (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;

  if (l == NULL)
    return;
  check_path_list ("maskedPaths", l->masked_paths, l->masked_paths_len, findings);
  check_path_list ("readonlyPaths", l->readonly_paths, l->readonly_paths_len, findings);
}

/* Whether a component of PATH, between separators of either driver ("/" or systemd's ":"), is "..".
 */
static bool has_dot_dot (const char *path)
{
  for (const char *part = path; *part != '\0';)
    {
      size_t len = strcspn (part, "/:");

      if (len == 2 && part[0] == '.' && part[1] == '.')
        return true;
      part += len;
      part += *part != '\0';
    }
  return false;
}

void validate_cgroups_path (const struct oci_config *config, struct findings *findings)
{
  const char *path = config->linux == NULL ? NULL : config->linux->cgroups_path;
  char quoted[STR_QUOTE_MAX];

  if (path != NULL && has_dot_dot (path))
    reject (findings, "cgroup.path", "/linux/cgroupsPath",
            "linux.cgroupsPath \"%s\" climbs with ..", str_quote (path, quoted));
}

/* ---- sysctl ---- */

/* Either spelling, "net.core.somaxconn" or "net/core/somaxconn", see sysctl(8).  It becomes a path
   below /proc/sys, so nothing that moves within one may be in it.  */
static bool is_sysctl_name (const char *name)
{
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*.:/";
  size_t len = strlen (name);

  if (len == 0 || len > 255 || strspn (name, letters) != len)
    return false;
  for (const char *part = name;; part++)
    {
      size_t part_len = strcspn (part, "./");

      if (part_len == 0)
        return false;
      part += part_len;
      if (*part == '\0')
        return true;
    }
}

/* A parameter is written by the runtime with its own rights, in the namespace of the container:
   where that is not a namespace of its own, the whole host would get the value.  */
static const char *sysctl_problem (const struct oci_config *config, const char *name,
                                   const char *value)
{
  char separator = name[strcspn (name, "./")];
  const char *type = sysctl_namespace (name);

  if (str_equal (name, separator == '/' ? "kernel/hostname" : "kernel.hostname"))
    return "has a field of its own in the configuration: use hostname";
  if (type == NULL)
    return "has one value for the whole host, which a container can't change";
  if (config_namespace (config, type) == NULL)
    return "would be set on the host: the container has no namespace of its own for it";
  if (str_equal (type, "uts") && config->domainname != NULL
      && !str_equal (config->domainname, value))
    return "has another value than the field domainname";
  return NULL;
}

void validate_sysctl (const struct oci_config *config, struct findings *findings)
{
  const struct oci_linux *l = config->linux;
  const char *problem;
  char quoted[STR_QUOTE_MAX];
  char *escaped;

  for (size_t i = 0; l != NULL && i < l->sysctl.len; i++)
    {
      const char *name = l->sysctl.keys[i];
      const char *value = l->sysctl.values[i];

      escaped = pointer_escape (findings->arena, name == NULL ? "" : name);
      if (escaped == NULL)
        {
          findings->failed = true;
          return;
        }
      if (name == NULL || !is_sysctl_name (name))
        reject (findings, "sysctl.name",
                pointer_printf (findings->arena, "/linux/sysctl/%s", escaped),
                "\"%s\" is no name of a kernel parameter", str_quote (name, quoted));
      else if ((problem = sysctl_problem (config, name, value)) != NULL)
        reject (findings, "sysctl.name",
                pointer_printf (findings->arena, "/linux/sysctl/%s", escaped),
                "the kernel parameter %s %s", str_quote (name, quoted), problem);
      if (value == NULL || strchr (value, '\n') != NULL)
        reject (findings, "config.invalid",
                pointer_printf (findings->arena, "/linux/sysctl/%s", escaped),
                "the value of kernel parameter \"%s\" is not one line", str_quote (name, quoted));
    }
}

/* ---- the rest ---- */

void validate_rootfs_propagation (const struct oci_config *config, struct findings *findings)
{
  static const char *const words[] = { "shared", "slave",    "private",     "unbindable", "rshared",
                                       "rslave", "rprivate", "runbindable", NULL };
  const char *word = config->linux == NULL ? NULL : config->linux->rootfs_propagation;
  char quoted[STR_QUOTE_MAX];

  if (!is_empty (word) && !word_in (word, words))
    reject (findings, "rootfs.propagation", "/linux/rootfsPropagation",
            "linux.rootfsPropagation \"%s\" is none of shared, slave, private, unbindable",
            str_quote (word, quoted));
}

/* A name of one directory; what a file of several lines would take for two isn't in it.  */
void validate_intel_rdt (const struct oci_config *config, struct findings *findings)
{
  const struct oci_intel_rdt *r = config->linux == NULL ? NULL : config->linux->intel_rdt;

  if (r == NULL)
    return;
  if (!is_empty (r->clos_id)
      && (strchr (r->clos_id, '/') != NULL || str_equal (r->clos_id, "..")
          || strlen (r->clos_id) > NAME_MAX))
    reject (findings, "config.invalid", "/linux/intelRdt/closID",
            "linux.intelRdt.closID is no name of a group");
  for (size_t i = 0; i < r->schemata_len; i++)
    if (is_empty (r->schemata[i]) || strchr (r->schemata[i], '\n') != NULL)
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/linux/intelRdt/schemata/%zu", i),
              "entry %zu of linux.intelRdt.schemata is not one line", i);
  if (!is_empty (r->mem_bw_schema)
      && (!str_has_prefix (r->mem_bw_schema, "MB:") || strchr (r->mem_bw_schema, '\n') != NULL))
    reject (findings, "config.invalid", "/linux/intelRdt/memBwSchema",
            "linux.intelRdt.memBwSchema is not one line that begins with MB:");
}
