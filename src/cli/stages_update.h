/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of an update: load, parse, validate, admit against the record.  update and
   `check --resources` share them by construction.  */
#pragma once

#include "cli/stages.h"
#include "container/container.h"

struct judged_update
{
  struct arena *arena;
  struct policy *policy;
  struct findings findings;
  struct container container; /* open and locked, so that what was judged is what is changed */
  struct update_admission admission;
  bool denied;
};

#define JUDGED_UPDATE_INIT                                                                         \
  {                                                                                                \
    .container = CONTAINER_INIT                                                                    \
  }

/* Loads the policy.  U is to be freed in any case.  */
int update_prepare (const struct global_options *, struct judged_update *u, struct error *err);

/* The document FILE ("-": standard input) as resources.  What is wrong with it are findings, and
 *RET stays NULL.  */
int update_read (struct judged_update *u, const char *file, struct oci_resources **ret,
                 struct error *err);

/* Opens container ID (not before: whoever feeds standard input must not keep it locked) and judges.
   A denial is a result (U->denied), not an error.  ASKED is NULL when update_read gave none.  */
int update_judge (const struct global_options *, const char *id, const struct oci_resources *asked,
                  struct judged_update *u, struct error *err);

void judged_update_free (struct judged_update *);
#define cleanup_judged_update __attribute__ ((cleanup (judged_update_free)))
