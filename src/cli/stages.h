/* SPDX-License-Identifier: Apache-2.0 */
/* The first stages of every command that judges a bundle: load, parse, validate, query, resolve,
   admit, plan.  create, run and check share them by construction.  */
#pragma once

#include <stdbool.h>

#include "arena.h"
#include "base/error.h"
#include "cli/command.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "spec/findings.h"
#include "spec/load.h"
#include "spec/resolve.h"

struct judged
{
  struct arena *arena;
  struct policy *policy;
  struct bundle bundle;
  struct findings findings;
  struct oci_config *config; /* NULL when it could not be parsed */
  struct policy_request request;
  struct resolved resolved;
  struct admission admission;
  bool denied; /* by the policy, or because the configuration makes no sense */
};

/* What --bundle, --config and the other flags of create say.  */
struct judge_options
{
  const char *bundle;
  const char *config;
  const char *id; /* NULL for check of a bundle */
  unsigned preserve_fds;
  bool no_pivot;
  bool no_new_keyring;
  const struct oci_mount *more_mounts; /* behind those of the configuration (mounts add) */
  size_t more_mounts_len;
};

/* From the bundle to the verdict.  A denial is a result, not an error; an error means that no
   verdict could be reached.  RET is to be freed in both cases with judged_free (zero-initialise
   with JUDGED_INIT).  */
#define JUDGED_INIT                                                                                \
  {                                                                                                \
    .bundle = {.dirfd = -1 }                                                                       \
  }
int stages_judge (const struct global_options *, const struct judge_options *, struct judged *ret,
                  struct error *err);
void judged_free (struct judged *);
#define cleanup_judged __attribute__ ((cleanup (judged_free)))

/* --preserve-fds and LISTEN_FDS may pass only what the caller had open: a number that was free is
   taken by a descriptor of our own by now, and that would reach the container.  */
int stages_check_descriptors (const struct global_options *, unsigned wanted, struct error *err);

/* The one line that an engine shows for a denial, as an error.  */
int stages_denial (struct judged *, struct error *err);

/* The plan of an admitted bundle, in the arena of JUDGED.  */
int stages_plan (struct judged *, struct plan **ret, struct error *err);
