/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of an exec: load, parse, validate, query, resolve, admit against the record, plan.
   exec and `check --process` share them by construction.  */
#pragma once

#include "cli/exec_options.h"
#include "cli/stages.h"
#include "container/container.h"

struct judged_exec
{
  struct arena *arena;
  struct policy *policy;
  struct findings findings;
  struct container container;  /* open, its lock shared */
  struct oci_process *process; /* as asked for, hardened by the record; NULL: it makes no sense */
  struct resolved resolved;
  struct oci_process *admitted; /* tightened */
  bool denied;
};

#define JUDGED_EXEC_INIT                                                                           \
  {                                                                                                \
    .container = CONTAINER_INIT                                                                    \
  }

/* ARGS: the container's id, then the command and its arguments, if any.  A denial is a result, not
   an error.  E is to be freed in any case.  */
int exec_judge (const struct global_options *, const struct exec_options *, int argc, char **argv,
                struct judged_exec *e, struct error *err);
void judged_exec_free (struct judged_exec *);
#define cleanup_judged_exec __attribute__ ((cleanup (judged_exec_free)))

/* stages_exec_process.c: the process that --process or the other flags describe, in E->process.  */
int exec_read_process (const struct exec_options *, struct judged_exec *e, struct error *err);
int exec_make_process (const struct exec_options *, int argc, char **argv, struct judged_exec *e,
                       struct error *err);
