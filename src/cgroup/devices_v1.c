/* SPDX-License-Identifier: Apache-2.0 */
/* The devices controller of cgroup v1.  Runs in the parent; needs CAP_SYS_ADMIN.  The kernel's
   cgroup-v1/devices.rst.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"

static const char *const files[] = { "devices.deny", "devices.allow" };

/* Each write is a rule of its own; the file stays open between them.  */
static int write_lines (const struct cgroup_dir *dir, bool allow, const struct device_rule *rules,
                        size_t n, struct error *err)
{
  char line[DEVICE_LINE_MAX];
  cleanup_close int fd = path_openat2 (dir->fd, files[allow], O_WRONLY | O_NOCTTY, 0,
                                       RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  int r = fd < 0 ? fd : 0;

  for (size_t i = 0; r >= 0 && i < n; i++)
    {
      device_rule_line (&rules[i], line);
      ssize_t written = write (fd, line, strlen (line));
      if (written < 0)
        r = -errno;
      else if ((size_t)written != strlen (line))
        r = -EIO;
      if (r < 0)
        return error_errno (err, -r, "linux.resources.devices: write \"%s\" to %s/%s", line,
                            dir->path, files[allow]);
    }
  return r < 0
             ? error_errno (err, -r, "linux.resources.devices: open %s/%s", dir->path, files[allow])
             : 0;
}

/* From the default again each time: what the group inherited, or had from an earlier call, is gone
   with the first line.  */
int devices_v1_apply (const struct cgroup_dir *dir, const struct device_rule *rules, size_t n,
                      struct error *err)
{
  struct device_exceptions e;
  int r = device_rules_flatten (rules, n, &e, err);

  if (r < 0)
    return r;
  r = path_write_file (dir->fd, files[e.default_allow], "a", err);
  if (r < 0)
    r = error_context (err, "linux.resources.devices: %s", dir->path);
  if (r >= 0 && e.len > 0)
    r = write_lines (dir, !e.default_allow, e.list, e.len, err);
  free (e.list);
  return r;
}
