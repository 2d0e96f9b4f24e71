/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.rdma.  Pure code.  config-linux.md "RDMA"; both versions have the same file.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define DEVICE_NAME_MAX 64

static int plan_device (struct planner *p, const char *device, const struct oci_rdma *d,
                        struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  char value[PLAN_VALUE_MAX];
  int len;

  if (device[0] == '\0' || strlen (device) >= DEVICE_NAME_MAX || strpbrk (device, " \t\n=") != NULL)
    return error_set (err, -EINVAL, "linux.resources.rdma: %s is no device name",
                      str_quote (device, quoted));
  if (!d->has_hca_handles && !d->has_hca_objects)
    return error_set (err, -EINVAL,
                      "linux.resources.rdma: %s has neither hcaHandles nor hcaObjects",
                      str_quote (device, quoted));
  len = snprintf (value, sizeof (value), "%s", device);
  if (d->has_hca_handles)
    len += snprintf (value + len, sizeof (value) - (size_t)len, " hca_handle=%" PRIu32,
                     d->hca_handles);
  if (d->has_hca_objects)
    snprintf (value + len, sizeof (value) - (size_t)len, " hca_object=%" PRIu32, d->hca_objects);
  return plan_write (p, CONTROLLER_RDMA, 0, "rdma", "rdma.max", value, err);
}

int plan_rdma (struct planner *p, const struct oci_resources *r, struct error *err)
{
  for (size_t i = 0; i < r->rdma.len; i++)
    {
      int ret = plan_device (p, r->rdma.keys[i], &r->rdma.values[i], err);
      if (ret < 0)
        return ret;
    }
  return 0;
}
