/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stages.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"
#include "cgroup/cgroup.h"
#include "cli/rootless.h"
#include "container/container.h"
#include "plan/make.h"
#include "spec/validate.h"

/* sd_listen_fds(3), as the engine's environment gives it; anything but a number is none.  */
static unsigned listen_fds (void)
{
  const char *text = getenv ("LISTEN_FDS");
  uint64_t number;
  return text != NULL && str_to_u64 (text, 0, 1024, &number) == 0 ? (unsigned)number : 0;
}

static int prepare (const struct global_options *global, const struct judge_options *options,
                    struct judged *j, struct error *err)
{
  j->arena = arena_new ();
  if (j->arena == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  j->findings.arena = j->arena;
  int r = policy_load (global->policy, global->program, true, &j->policy, err);
  if (r < 0)
    return r;
  r = bundle_load (options->bundle, options->config, &j->bundle, err);
  if (r < 0)
    return r;
  j->request = (struct policy_request){
    .id = options->id,
    .bundle = j->bundle.path,
    .preserve_fds = options->preserve_fds,
    .listen_fds = listen_fds (),
    .no_pivot = options->no_pivot,
    .no_new_keyring = options->no_new_keyring,
    .cgroup_disabled = str_equal (global->cgroup_manager, "disabled"),
    .state_root = state_root_path (global),
  };
  return 0;
}

/* A question for a room that resolve doesn't know.  Root of the host is not asked: what he can't
   make is an error of create.  */
static void add_cgroup_fact (struct judged *j)
{
  struct fact_host *host = j->resolved.facts->host;
  const struct oci_linux *l = j->config->linux;
  const char *path = l == NULL || l->cgroups_path == NULL ? "/agentrun" : l->cgroups_path;
  if (host != NULL && !(host->uid == 0 && host->initial_user_namespace)
      && !j->request.cgroup_disabled)
    SET_NUMBER (host, no_cgroup, !cgroup_can_make (path));
}

/* What load saw of the bundle itself is a fact like any other.  */
static void add_bundle_facts (struct judged *j)
{
  struct facts *f = j->resolved.facts;
  f->bundle = j->bundle.path;
  SET_NUMBER (f, bundle_uid, j->bundle.uid);
  SET_NUMBER (f, bundle_mode, j->bundle.mode & 07777);
  SET_NUMBER (f, config_uid, j->bundle.config_uid);
  SET_NUMBER (f, config_mode, j->bundle.config_mode & 07777);
}

static int add_mounts (const struct judge_options *options, struct judged *j, struct error *err)
{
  struct oci_config *config = j->config;
  size_t len = config->mounts_len, more = options->more_mounts_len;
  if (more == 0)
    return 0;
  struct oci_mount *all = arena_alloc_array (j->arena, len + more, sizeof *all);
  if (all == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  for (size_t i = 0; i < len + more; i++)
    all[i] = i < len ? config->mounts[i] : options->more_mounts[i - len];
  config->mounts = all;
  config->mounts_len = len + more;
  config->has_mounts = true;
  return 0;
}

int stages_judge (const struct global_options *global, const struct judge_options *options,
                  struct judged *j, struct error *err)
{
  struct questions *questions;
  int r = prepare (global, options, j, err); /* load */
  if (r < 0)
    return r;
  r = spec_parse (&j->bundle, j->arena, &j->findings, &j->config, err);
  if (r < 0)
    {
      j->denied = findings_reject (&j->findings);
      return j->denied ? 0 : r;
    }
  r = add_mounts (options, j, err);
  if (r < 0)
    return r;
  spec_validate (j->config, &j->findings);
  bool invalid = findings_reject (&j->findings);
  if (global->own_user_namespace && !invalid)
    r = rootless_translate (j->config, err);
  if (r == 0)
    r = policy_query (j->policy, j->config, &j->request, j->arena, &questions, err);
  if (r == 0)
    r = spec_resolve_at (j->bundle.dirfd, questions, j->arena, &j->resolved, err);
  if (r == 0 && (j->resolved.facts->namespaces_len > 0 || policy_asks_writers (j->resolved.facts)))
    r = container_recorded (j->request.state_root, j->arena, j->resolved.facts, err);
  if (r < 0)
    return r;
  add_bundle_facts (j);
  add_cgroup_fact (j);
  r = policy_admit (j->policy, j->config, j->resolved.facts, &j->request, j->arena, &j->findings,
                    &j->admission, err);
  if (r < 0 || j->findings.failed)
    return r < 0 ? r : error_set (err, -ENOMEM, "out of memory: no verdict could be reached");
  j->denied = invalid || j->admission.denied;
  return 0;
}

void judged_free (struct judged *j)
{
  resolved_free (&j->resolved);
  bundle_free (&j->bundle);
  policy_free (j->policy);
  arena_free (j->arena);
}

int stages_check_descriptors (const struct global_options *global, unsigned wanted,
                              struct error *err)
{
  if (wanted <= global->inherited_fds)
    return 0;
  return error_set (err, -EBADF,
                    "process.descriptor: %u descriptors from 3 up are to be preserved, but %u is "
                    "not open",
                    wanted, 3 + global->inherited_fds);
}

int stages_denial (struct judged *j, struct error *err)
{
  const char *line = policy_denial_line (j->policy, &j->findings, j->arena);
  return error_set (err, -EPERM, "%s", line ? line : "denied; out of memory for the reasons");
}

int stages_plan (struct judged *j, struct plan **ret, struct error *err)
{
  const struct plan_input input = {
    .id = j->request.id ? j->request.id : "",
    .bundle = &j->bundle,
    .policy = j->policy,
    .admission = &j->admission,
    .facts = j->resolved.facts,
    .findings = &j->findings,
    .asked = j->config,
    .cgroup_disabled = j->request.cgroup_disabled,
  };
  return plan_make (&input, j->arena, ret, err);
}
