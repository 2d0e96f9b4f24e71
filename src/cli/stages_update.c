/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stages_update.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "spec/load.h"
#include "spec/validate.h"

int update_prepare (const struct global_options *global, struct judged_update *u, struct error *err)
{
  u->arena = arena_new ();
  if (u->arena == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  u->findings.arena = u->arena;
  return policy_load (global->policy, global->program, true, &u->policy, err);
}

int update_read (struct judged_update *u, const char *file, struct oci_resources **ret,
                 struct error *err)
{
  cleanup_free char *bytes = NULL;
  void *resources = NULL;
  size_t len;
  int r = document_load (file, &bytes, &len, err);

  *ret = NULL;
  if (r == 0)
    r = spec_parse_text (&oci_resources_type, str_equal (file, "-") ? "resources" : file, bytes,
                         len, u->arena, &u->findings, &resources, err);
  if (r < 0)
    return findings_reject (&u->findings) ? 0 : r;
  *ret = resources;
  return 0;
}

int update_judge (const struct global_options *global, const char *id,
                  const struct oci_resources *asked, struct judged_update *u, struct error *err)
{
  const struct plan_cgroup *recorded;
  bool invalid;
  int r = container_open (state_root_path (global), id, false, &u->container, err);

  if (r < 0)
    return r;
  u->denied = true;
  if (asked == NULL)
    return 0;
  spec_validate_resources (asked, &u->findings);
  invalid = findings_reject (&u->findings);
  recorded = u->container.record->plan->cgroup;
  r = policy_admit_update (u->policy, recorded == NULL ? NULL : recorded->resources, asked,
                           u->arena, &u->findings, &u->admission, err);
  u->denied = invalid || u->admission.denied;
  return r;
}

void judged_update_free (struct judged_update *u)
{
  container_close (&u->container);
  policy_free (u->policy);
  arena_free (u->arena);
}
