/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes and the device filter (config-linux.md, "Devices", "Default Devices", "Allowed
   Device list").  Pure code.  */
#include <errno.h>

#include "base/str.h"
#include "plan/make.h"

#define DEFAULT_DEVICE_MODE 0666
#define CAPABILITY_MKNOD    27

const struct default_device plan_default_devices[] = {
  { "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
  { "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
};
const size_t plan_default_devices_len = ARRAY_SIZE (plan_default_devices);

/* What a process may open beside the default nodes: ptmx and the slaves of its own devpts.  */
static const struct
{
  int64_t major, minor;
} terminal_devices[] = { { 5, 2 }, { 136, -1 } };

static void set_device (struct plan_device *d, char *path, char *type, uint32_t major,
                        uint32_t minor)
{
  d->path = path;
  d->type = type;
  SET_NUMBER (d, major, major);
  SET_NUMBER (d, minor, minor);
  SET_NUMBER (d, mode, DEFAULT_DEVICE_MODE);
  SET_NUMBER (d, uid, 0);
  SET_NUMBER (d, gid, 0);
}

static bool listed (const struct oci_linux *linux_, const char *path)
{
  for (size_t i = 0; i < linux_->devices_len; i++)
    if (str_equal (linux_->devices[i].path, path))
      return true;
  return false;
}

/* The default nodes, but for those that the configuration lists under the same path, and then its
   own.  */
static int make_nodes (const struct oci_linux *linux_, struct arena *arena, struct plan *plan)
{
  static char character[] = "c";
  plan->devices =
      arena_alloc (arena, (plan_default_devices_len + linux_->devices_len) * sizeof *plan->devices);
  if (plan->devices == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < plan_default_devices_len; i++)
    {
      const struct default_device *d = &plan_default_devices[i];
      char *path = listed (linux_, d->path) ? NULL : arena_strdup (arena, d->path);
      if (path != NULL)
        set_device (&plan->devices[plan->devices_len++], path, character, d->major, d->minor);
    }
  for (size_t i = 0; i < linux_->devices_len; i++)
    {
      const struct oci_device *d = &linux_->devices[i];
      struct plan_device *node = &plan->devices[plan->devices_len++];
      set_device (node, d->path, d->type, (uint32_t)d->major, (uint32_t)d->minor);
      if (d->has_file_mode)
        node->mode = d->file_mode & 07777;
      if (d->has_uid)
        node->uid = d->uid;
      if (d->has_gid)
        node->gid = d->gid;
    }
  plan->has_devices = true;
  return 0;
}

static void add_rule (struct plan_cgroup *cgroup, bool allow, const char *type, int64_t major,
                      int64_t minor, const char *access)
{
  struct oci_device_cgroup *rule = &cgroup->devices[cgroup->devices_len++];
  SET_NUMBER (rule, allow, allow);
  rule->type = (char *)type;
  SET_NUMBER (rule, major, major);
  SET_NUMBER (rule, minor, minor);
  rule->access = (char *)access;
}

static bool bounding_mknod (const struct plan *plan)
{
  return (plan->process->capabilities->bounding >> CAPABILITY_MKNOD & 1) != 0;
}

/* The configuration's rules between a deny-all, which always comes first, and what every container
   may use.  A configuration without any rule has said by linux.devices what it uses: a node that
   can't be opened would be of no use.  Making nodes, of any device, is allowed only to a process
   that could have CAP_MKNOD at all; init makes its own nodes before the filter is installed.  */
static int make_filter (const struct oci_linux *linux_, const struct oci_resources *resources,
                        struct arena *arena, struct plan *plan)
{
  struct plan_cgroup *cgroup = plan->cgroup;
  size_t nodes = resources->devices_len == 0 ? linux_->devices_len : 0;
  size_t most = resources->devices_len + nodes + plan_default_devices_len + 8;
  cgroup->devices = arena_alloc (arena, most * sizeof *cgroup->devices);
  if (cgroup->devices == NULL)
    return -ENOMEM;
  add_rule (cgroup, false, "a", -1, -1, "rwm");
  for (size_t i = 0; i < resources->devices_len; i++)
    cgroup->devices[cgroup->devices_len++] = resources->devices[i];
  for (size_t i = 0; i < nodes; i++)
    if (!str_equal (linux_->devices[i].type, "p"))
      add_rule (cgroup, true, str_equal (linux_->devices[i].type, "b") ? "b" : "c",
                linux_->devices[i].major, linux_->devices[i].minor, "rw");
  for (size_t i = 0; i < plan_default_devices_len; i++)
    add_rule (cgroup, true, "c", plan_default_devices[i].major, plan_default_devices[i].minor,
              "rwm");
  for (size_t i = 0; i < ARRAY_SIZE (terminal_devices); i++)
    add_rule (cgroup, true, "c", terminal_devices[i].major, terminal_devices[i].minor, "rwm");
  if (bounding_mknod (plan))
    {
      add_rule (cgroup, true, "c", -1, -1, "m");
      add_rule (cgroup, true, "b", -1, -1, "m");
    }
  cgroup->has_devices = true;
  return 0;
}

int plan_make_devices (const struct plan_input *in, struct arena *arena, struct plan *plan,
                       struct error *err)
{
  static const struct oci_linux no_linux;
  static const struct oci_resources no_resources;
  const struct oci_linux *linux_ = in->admission->config->linux;
  if (linux_ == NULL)
    linux_ = &no_linux;
  const struct oci_resources *resources = linux_->resources ? linux_->resources : &no_resources;
  if (make_nodes (linux_, arena, plan) < 0 || make_filter (linux_, resources, arena, plan) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning devices");
  return 0;
}
