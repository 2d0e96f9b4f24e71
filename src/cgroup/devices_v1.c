/* SPDX-License-Identifier: Apache-2.0 */
/* The devices controller of cgroup v1.  Runs in the parent; needs CAP_SYS_ADMIN.  The kernel's
   cgroup-v1/devices.rst.  */
#include "cgroup/internal.h"

#include <stdlib.h>

#include "base/path.h"

static const char *const files[] = { "devices.deny", "devices.allow" };

static int write_line (const struct cgroup_dir *dir, bool allow, const char *line,
                       struct error *err)
{
  int r = path_write_file (dir->fd, files[allow], line, NULL);

  if (r < 0)
    return error_errno (err, -r, "linux.resources.devices: write \"%s\" to %s/%s", line, dir->path,
                        files[allow]);
  return 0;
}

/* From the default again each time: what the group inherited, or had from an earlier call, is gone
   with the first line.  */
int devices_v1_apply (const struct cgroup_dir *dir, const struct device_rule *rules, size_t n,
                      struct error *err)
{
  struct device_exceptions e;
  char line[DEVICE_LINE_MAX];
  int r = device_rules_flatten (rules, n, &e, err);

  if (r < 0)
    return r;
  r = write_line (dir, e.default_allow, "a", err);
  for (size_t i = 0; r >= 0 && i < e.len; i++)
    r = write_line (dir, !e.default_allow, device_rule_line (&e.list[i], line), err);
  free (e.list);
  return r;
}
