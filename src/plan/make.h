/* SPDX-License-Identifier: Apache-2.0 */
/* plan: the tightened configuration and the verdict become a list of everything that will be done
   (plan.schema).  Pure: no system call; descriptors are indices into the resolved ones.  What the
   configuration leaves out is filled in here, so that the executing code has no defaults of its
   own.  */
#pragma once

#include "arena.h"
#include "base/error.h"
#include "plan/plan.h" /* generated */
#include "policy/policy.h"
#include "spec/facts.h"
#include "spec/findings.h"
#include "spec/load.h"

struct plan_input
{
  const char *id;
  const struct bundle *bundle;
  const struct policy *policy;
  const struct admission *admission; /* not denied */
  const struct facts *facts;
  const struct findings *findings;
  const struct oci_config *asked; /* as it came, before any tightening */
  bool cgroup_disabled;           /* --cgroup-manager=disabled, and the policy lets it pass */
};

/* *RET lives in the arena and borrows from the configuration and the facts.  Fails on ENOMEM, and
   on a bind source without a tree (a question that nobody asked or that has no answer).  */
int plan_make (const struct plan_input *, struct arena *, struct plan **ret, struct error *err);

/* The process of a plan, whether of a container or of an exec.  In the arena, borrows from the
   process.  */
int plan_process_of (const struct oci_process *, struct arena *, struct plan_process **ret,
                     struct error *err);

/* make_exec.c: the way back, for a process that joins a container.  The recorded process as
   configuration, without args and env (a record has no values).  In the arena, borrows from the
   plan.  */
int plan_recorded_process (const struct plan *, struct arena *, struct oci_process **ret,
                           struct error *err);

/* What holds for the container holds for PROCESS: no_new_privs, resource limits that are at most
   the container's, an oom_score_adj that is at least the container's, its labels where PROCESS has
   none.  */
int plan_harden_exec (const struct plan *, struct oci_process *process, struct arena *,
                      struct error *err);

/* What a record keeps: the plan with the names of the environment only.  In the arena.  */
struct plan *plan_without_environment (const struct plan *, struct arena *);

/* A number and its flag, as generated structs keep them.  */
#define SET_NUMBER(object, member, number)                                                         \
  do                                                                                               \
    {                                                                                              \
      (object)->has_##member = true;                                                               \
      (object)->member = (number);                                                                 \
    }                                                                                              \
  while (0)

/* Default devices of config-linux.md ("Default Devices"), as plan and device filter know them.  */
struct default_device
{
  const char *path;
  unsigned major, minor;
};
extern const struct default_device plan_default_devices[];
extern const size_t plan_default_devices_len;

/* The parts of plan_make, one file each.  */
int plan_make_mounts (const struct plan_input *, struct arena *, struct plan *, struct error *err);
int plan_make_process (const struct plan_input *, struct arena *, struct plan *, struct error *err);
int plan_make_linux (const struct plan_input *, struct arena *, struct plan *, struct error *err);
int plan_make_intel_rdt (const struct plan_input *, struct arena *, struct plan *, struct error *);
int plan_make_devices (const struct plan_input *, struct arena *, struct plan *, struct error *err);
int plan_make_hooks (const struct plan_input *, struct arena *, struct plan *, struct error *err);
