/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks (config.md, "POSIX-platform Hooks"): programs of the operator or the engine.  */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "container/setup.h"
#include "container/workload.h"
#include "plan/plan.h"

/* Runs the hooks one after the other, each with STATE_JSON on its standard input, only its own
   environment, cwd "/", and the descriptors 0 to 2.  Stops at the first that fails, runs over its
   timeout or can't be started; the message names KIND, the path, the exit code and the first of
   what it printed, and the code is -ECANCELED, which nothing else has: what a failed hook means for
   the container's life is the caller's to see.  A hook with a descriptor is executed by it, another
   one by its path (in the container: startContainer).  SETUP may be NULL: then all go by path.  */
int hooks_run (const char *kind, const struct plan_hook *hooks, size_t len,
               const struct container_setup *setup, const char *state_json, struct error *err);

/* The same for hooks that are programs of the image: by their path, with the rights that the
   workload could have at most (workload_confine).  In init.  */
int hooks_run_confined (const char *kind, const struct plan_hook *hooks, size_t len,
                        const struct workload *workload, const char *state_json, struct error *err);

/* After a container is destroyed (runtime.md, "Lifecycle", 13): all poststop hooks, with a warning
   in the log for one that fails.  */
void hooks_run_poststop (const struct plan *);
