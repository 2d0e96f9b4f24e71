/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's side of create: makes init and leads it, over sync.h, until it is parked.  */
#pragma once

#include "container/setup.h"

struct created
{
  pid_t pid;
  int pidfd;           /* owned */
  uint64_t start_time; /* proc_pid_stat(5), field 22 */
  int start;           /* owned: the connection to start it by, -1 with a listener */
};
#define CREATED_INIT                                                                               \
  {                                                                                                \
    .pidfd = -1, .start = -1                                                                       \
  }

/* Called with the pid as soon as init exists, so that a record of it can be written before anything
 * else can fail.  */
typedef int (*init_made_fn) (const struct created *, void *data, struct error *err);

/* Clones init into the plan's namespaces and CGROUP, and returns when it is parked.  STATE_JSON
   makes the state that hooks get from init's pid (malloc'ed).  On failure init has been killed and
   reaped.  */
struct parent_request
{
  const struct container_setup *setup;
  struct cgroup *cgroup;
  int procfd;
  char *(*state_json) (const struct plan *, pid_t pid, const char *status);
  init_made_fn init_made;
  void *data;
};
int parent_create_init (const struct parent_request *, struct created *ret, struct error *err);
