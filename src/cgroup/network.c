/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.network: two controllers that only v1 has.  Pure code.  config-linux.md
   "Network".  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static int plan_priority (struct planner *p, const struct oci_interface_priority *i,
                          struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  char value[PLAN_VALUE_MAX];

  if (i->name == NULL || i->name[0] == '\0' || strlen (i->name) >= IFNAMSIZ
      || strpbrk (i->name, " \t\n/") != NULL)
    return error_set (err, -EINVAL, "linux.resources.network.priorities: %s is no interface name",
                      str_quote (i->name, quoted));
  if (!i->has_priority)
    return error_set (err, -EINVAL,
                      "linux.resources.network.priorities: the entry for %s has no priority",
                      str_quote (i->name, quoted));
  snprintf (value, sizeof (value), "%s %" PRIu32, i->name, i->priority);
  return plan_write (p, CONTROLLER_NET_PRIO, 0, "network.priorities", "net_prio.ifpriomap", value,
                     err);
}

int plan_network (struct planner *p, const struct oci_resources *r, struct error *err)
{
  const struct oci_network *n = r->network;
  char value[PLAN_VALUE_MAX];
  int ret = 0;

  if (n == NULL)
    return 0;
  /* 0 is "no class", what a new group has.  */
  if (n->has_class_id && n->class_id != 0)
    {
      snprintf (value, sizeof (value), "%" PRIu32, n->class_id);
      ret = plan_write (p, CONTROLLER_NET_CLS, 0, "network.classID", "net_cls.classid", value, err);
    }
  for (size_t i = 0; ret >= 0 && i < n->priorities_len; i++)
    ret = plan_priority (p, &n->priorities[i], err);
  return ret;
}
