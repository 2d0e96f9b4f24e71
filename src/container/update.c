/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the change of a container's limits: cgroup first, then the record.  Runs in the command's
   process, with the container locked, as owner of its cgroups.  What may be changed was decided
   before.  */
#include <errno.h>

#include "container/container.h"
#include "state/state.h"

/* Half of an update is worse than none: the recorded values are written again.  What the record
   says nothing about keeps its new value; nothing here could tell the old one.  */
static void undo (const struct cgroup *cgroup, const struct plan_cgroup *recorded)
{
  if (recorded->resources != NULL)
    (void)cgroup_apply (cgroup, recorded->resources, NULL);
}

static int record_result (struct container *c, const struct oci_resources *result,
                          struct error *err)
{
  struct oci_resources *copy = oci_clone (&oci_resources_type, c->arena, result);

  if (copy == NULL)
    return error_set (err, -ENOMEM, "out of memory for the record");
  c->record->plan->cgroup->resources = copy;
  return state_write (c->dirfd, c->record, err);
}

int container_update (struct container *c, const struct oci_resources *change,
                      const struct oci_resources *result, struct error *err)
{
  enum container_status status;
  cleanup_cgroup struct cgroup *cgroup = NULL;
  int r = container_status (c, &status, err);

  if (r < 0)
    return r;
  if (status == CONTAINER_STOPPED)
    return error_set (err, -ESRCH, "container not running: the limits of \"%s\" can't be changed",
                      c->id);
  r = container_cgroup (c, &cgroup, err);
  if (r == 0 && (cgroup == NULL || c->record->plan->cgroup == NULL))
    r = error_set (err, -ENOENT, "container \"%s\" has no cgroup whose limits could be changed",
                   c->id);
  if (r < 0)
    return r;
  r = cgroup_apply (cgroup, change, err);
  if (r == 0)
    r = record_result (c, result, err);
  else
    undo (cgroup, c->record->plan->cgroup);
  return r;
}
