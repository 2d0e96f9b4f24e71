/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses who filters devices: the v1 controller where a hierarchy has it, else a BPF program on
   the cgroup2 group.  Runs in the parent; needs CAP_SYS_ADMIN (and CAP_BPF for the program).  */
#include "cgroup/internal.h"

#include <errno.h>

#include "base/cleanup.h"

int cgroup_apply_devices (const struct cgroup *cg, const struct oci_device_cgroup *rules, size_t n,
                          struct error *err)
{
  cleanup_free struct device_rule *list = NULL;
  const struct cgroup_dir *v1 = group_find_v1 (cg, "devices");
  const struct cgroup_dir *v2 = group_find_v2 (cg);
  int r = device_rules_read (rules, n, &list, err);

  if (r < 0)
    return r;
  if (v1 != NULL)
    return devices_v1_apply (v1, list, n, err);
  if (v2 != NULL)
    return devices_bpf_apply (v2, list, n, err);
  return error_set (err, -ENOENT,
                    "linux.resources.devices: the container has no cgroup that can filter devices");
}
