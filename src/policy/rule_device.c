/* SPDX-License-Identifier: Apache-2.0 */
/* Rules device.*: a device is what its type and numbers say, never what its path says.  Pure code.
 */
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "policy/internal.h"

/* What every container has: config-linux.md "Default Devices", and its own terminals.  -1 is any.
 */
static const struct
{
  const char *path;
  int64_t major, minor;
} default_devices[] = {
  { "/dev/null", 1, 3 },    { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
  { "/dev/random", 1, 8 },  { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
  { "/dev/console", 5, 1 }, { "/dev/ptmx", 5, 2 },    { NULL, 136, -1 },
};

bool device_is_default (const char *type, int64_t major_number, int64_t minor_number)
{
  for (size_t i = 0; i < ARRAY_SIZE (default_devices); i++)
    if (str_equal (type, "c") && major_number == default_devices[i].major
        && (default_devices[i].minor < 0 || minor_number == default_devices[i].minor))
      return true;
  return false;
}

/* ---- device.node ---- */

/* The grant of the path, if the host's node there has the very numbers that are asked for: the
   configuration could name any device by a granted path.  */
static const struct policy_grant *granted_node (const struct evaluation *ev, size_t index)
{
  const struct oci_device *device = &ev->config->linux->devices[index];
  char pointer[64];
  const struct fact_source *node;
  struct grant_query query = { .kind = "device", .path = device->path };

  snprintf (pointer, sizeof pointer, "/linux/devices/%zu/path", index);
  node = fact_source_find (ev->facts, pointer);
  if (node == NULL || node->error != NULL || !node->has_rdev
      || !str_equal (node->kind, str_equal (device->type, "b") ? "block" : "char")
      || (int64_t)major (node->rdev) != device->major
      || (int64_t)minor (node->rdev) != device->minor)
    return NULL;
  return grant_next (ev->policy, &query, NULL);
}

static const char *node_problem (const struct evaluation *ev, size_t index)
{
  const struct oci_device *device = &ev->config->linux->devices[index];
  bool plain = device_is_default (device->type, device->major, device->minor);

  for (size_t i = 0; i < ARRAY_SIZE (default_devices); i++)
    if (default_devices[i].path != NULL && str_equal (device->path, default_devices[i].path)
        && !(plain && device->major == default_devices[i].major
             && device->minor == default_devices[i].minor))
      return "has the name of a default device and other numbers";
  if (plain || granted_node (ev, index) != NULL)
    return NULL;
  return "is a device of the host beyond the default ones";
}

/* More than these at once are nobody's single devices: somebody said --privileged.  */
#define NAMED_NODES 8

static void report_node (struct evaluation *ev, size_t index, const char *problem)
{
  const struct oci_device *d = &ev->config->linux->devices[index];
  char quoted[STR_QUOTE_MAX], type[STR_QUOTE_MAX];
  struct finding *f =
      ev_report (ev, RULE_DEVICE_NODE, ACTION_REJECT, ev_printf (ev, "/linux/devices/%zu", index),
                 "%s (%s %lld:%lld) %s", str_quote (d->path, quoted), str_quote (d->type, type),
                 (long long)d->major, (long long)d->minor, problem);

  ev_fix (ev, f, "remove --device, or grant it with {\"kind\": \"device\"}");
}

static void check_nodes (struct evaluation *ev)
{
  const struct oci_linux *linux = ev->config->linux;
  char quoted[STR_QUOTE_MAX];
  size_t first = 0, count = 0;

  for (size_t i = linux->devices_len; i > 0; i--)
    if (node_problem (ev, i - 1) != NULL)
      {
        first = i - 1;
        count++;
      }
  if (count > NAMED_NODES)
    ev_fix (ev,
            ev_report (ev, RULE_DEVICE_NODE, ACTION_REJECT, "/linux/devices",
                       "%zu devices of the host beyond the default ones, the first is %s", count,
                       str_quote (linux->devices[first].path, quoted)),
            "remove --privileged");
  for (size_t i = first; count > 0 && count <= NAMED_NODES && i < linux->devices_len; i++)
    if (node_problem (ev, i) != NULL)
      report_node (ev, i, node_problem (ev, i));
}

/* ---- device.cgroup ---- */

static int64_t number (bool has, int64_t value) { return has && value >= 0 ? value : -1; }

static bool is_subset (const char *access, const char *of)
{
  return strspn (access, of) == strlen (access);
}

/* Whether a granted node among linux.devices has the rule's numbers and at least its access.  */
static bool granted_rule (const struct evaluation *ev, const struct oci_device_cgroup *rule,
                          int64_t major_number, int64_t minor_number)
{
  const struct oci_linux *linux = ev->config->linux;

  for (size_t i = 0; i < linux->devices_len; i++)
    {
      const struct oci_device *d = &linux->devices[i];
      const struct policy_grant *grant;

      if (!str_equal (d->type, rule->type) || d->major != major_number || d->minor != minor_number)
        continue;
      grant = granted_node (ev, i);
      /* Engines add the m of their own accord; without CAP_MKNOD it means nothing.  */
      if (grant != NULL && grant->access != NULL
          && (is_subset (rule->access, grant->access)
              || (is_subset (rule->access, "rwm") && is_subset ("rw", grant->access))))
        return true;
    }
  return false;
}

static void drop_mknod (struct evaluation *ev, struct oci_device_cgroup *rule, const char *pointer)
{
  struct oci_device_cgroup changed = *rule;
  struct tightening t = {
    .rule = RULE_DEVICE_CGROUP,
    .pointer = pointer,
    .old = ev_json (ev, &oci_device_cgroup_type, rule),
    .fix = "remove --device-cgroup-rule",
  };

  changed.allow = false;
  t.new = ev_json (ev, &oci_device_cgroup_type, &changed);
  if (ev_tighten (ev, &t, "nodes of any device could be made"))
    *rule = changed;
}

static void check_rule (struct evaluation *ev, struct oci_device_cgroup *rule, const char *pointer)
{
  int64_t major_number = number (rule->has_major, rule->major);
  int64_t minor_number = number (rule->has_minor, rule->minor);
  bool all = rule->type == NULL || str_equal (rule->type, "a");
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (!rule->has_allow || !rule->allow)
    return;
  if (str_equal (rule->access, "m") && (all || major_number < 0))
    {
      drop_mknod (ev, rule, pointer);
      return;
    }
  if (!all
      && (device_is_default (rule->type, major_number, minor_number)
          || (rule->access != NULL && granted_rule (ev, rule, major_number, minor_number))))
    return;
  f = ev_report (ev, RULE_DEVICE_CGROUP, ACTION_REJECT, pointer,
                 all || major_number < 0 ? "all devices of type %s are allowed%s"
                                         : "the device %s %s is allowed, beyond the default ones",
                 all ? "a" : str_quote (rule->type, quoted),
                 all || major_number < 0 ? ""
                 : minor_number < 0      ? ev_printf (ev, "%lld:*", (long long)major_number)
                                         : ev_printf (ev, "%lld:%lld", (long long)major_number,
                                                      (long long)minor_number));
  ev_fix (ev, f, "remove --device-cgroup-rule, --device or --privileged");
}

void check_devices (struct evaluation *ev)
{
  struct oci_resources *resources = ev->config->linux->resources;
  struct finding *f = NULL;

  check_nodes (ev);
  for (size_t i = 0; resources != NULL && i < resources->devices_len; i++)
    check_rule (ev, &resources->devices[i], ev_printf (ev, "/linux/resources/devices/%zu", i));
  if (ev->config->linux->net_devices.len > 0)
    f = ev_report (ev, RULE_DEVICE_NETWORK, ACTION_REJECT, "/linux/netDevices",
                   "a network interface of the host would be moved into the container");
  ev_fix (ev, f, "remove it");
}
