/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the change of a container's limits: cgroup first, then the record.  Runs in the command's
   process, with the container locked, as owner of its cgroups.  What may be changed was decided
   before.  */
#include <errno.h>
#include <string.h>

#include "container/container.h"
#include "container/resctrl.h"
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

static int check_runs (const struct container *c, struct error *err)
{
  enum container_status status;
  int r = container_status (c, &status, err);

  if (r == 0 && status == CONTAINER_STOPPED)
    return error_set (err, -ESRCH, "container not running: the limits of \"%s\" can't be changed",
                      c->id);
  return r;
}

int container_update (struct container *c, const struct oci_resources *change,
                      const struct oci_resources *result, struct error *err)
{
  cleanup_cgroup struct cgroup *cgroup = NULL;
  int r = check_runs (c, err);

  if (r == 0)
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

/* "L3:0=f" and "L3:0=7" are of the same resource: the newer line is what holds.  */
static bool same_resource (const char *a, const char *b)
{
  size_t len = strcspn (a, ":");

  return len == strcspn (b, ":") && strncmp (a, b, len) == 0;
}

static int record_lines (struct container *c, char *const *lines, size_t len, struct error *err)
{
  struct plan_intel_rdt *p = c->record->plan->intel_rdt;
  char **all = arena_alloc_array (c->arena, p->schemata_len + len + 1, sizeof *all);
  size_t n = 0;

  if (all == NULL)
    return error_set (err, -ENOMEM, "out of memory for the record");
  for (size_t i = 0; i < p->schemata_len; i++)
    {
      bool replaced = false;

      for (size_t k = 0; k < len; k++)
        replaced |= same_resource (p->schemata[i], lines[k]);
      if (!replaced)
        all[n++] = p->schemata[i];
    }
  for (size_t k = 0; k < len; k++)
    all[n++] = lines[k];
  p->schemata = all;
  p->schemata_len = n;
  p->has_schemata = true;
  return state_write (c->dirfd, c->record, err);
}

int container_update_rdt (struct container *c, char *const *lines, size_t len, struct error *err)
{
  int r = check_runs (c, err);

  if (r < 0)
    return r;
  if (c->record->plan->intel_rdt == NULL)
    return error_set (err, -ENOENT,
                      "container \"%s\" has no resctrl group: it was created without "
                      "linux.intelRdt",
                      c->id);
  r = resctrl_update (c->record->plan, lines, len, err);
  return r < 0 ? r : record_lines (c, lines, len, err);
}
