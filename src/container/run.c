/* SPDX-License-Identifier: Apache-2.0 */
/* run in the foreground: this process waits for init, its child, and passes on what it is sent.  */
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "container/container.h"
#include "container/foreground.h"
#include "container/parent.h"
#include "linux/process.h"
#include "state/state.h"

struct foreground_run
{
  int signals;
  int console[2]; /* the relay's socket pair, or -1 */
  struct relay relay;
};

static void foreground_end (struct foreground_run *f)
{
  cleanup_closep (&f->signals);
  cleanup_closep (&f->console[0]);
  cleanup_closep (&f->console[1]);
}

/* A terminal that nobody else takes is our caller's.  */
static bool wants_relay (const struct create_request *request)
{
  return request->plan->process->terminal && request->console_socket == NULL && !request->detach;
}

static int start_and_wait (const struct create_request *request, struct container *c,
                           const struct created *init, struct foreground_run *f, int *ret,
                           struct error *err)
{
  bool relayed = f->console[0] >= 0;
  int r = relayed ? relay_start (f->console[0], &f->relay, err) : 0;
  if (r < 0)
    return r;
  r = container_start_open (c, err);
  cleanup_closep (&c->start);
  state_unlock (&c->lock); /* for the commands of others, while it runs */
  if (r == 0 && !request->detach)
    r = foreground_wait (f->signals, init->pid, init->pidfd, relayed ? &f->relay : NULL, ret, err);
  if (relayed)
    relay_end (&f->relay);
  return r;
}

/* On failure the container goes, whatever `keep` and `detach` say: nothing ran that is worth it. */
static int run_created (const struct create_request *request, struct container *c,
                        const struct created *init, struct foreground_run *f, int *ret,
                        struct error *err)
{
  struct error ignored;
  int r = start_and_wait (request, c, init, f, ret, err);
  if (r < 0)
    {
      kill (init->pid, SIGKILL);
      (void)process_wait_child (init->pidfd, ret, &ignored);
      (void)container_delete_open (c, &ignored);
      return r;
    }
  return request->keep || request->detach ? 0 : container_delete_open (c, err);
}

int container_run (const struct create_request *request, int *ret, struct error *err)
{
  struct foreground_run f = { .signals = -1, .console = { -1, -1 } };
  struct create_request own = *request;
  cleanup_container struct container c = CONTAINER_INIT;
  struct created init = CREATED_INIT;
  int code = 0;
  int r = request->detach ? 0 : foreground_signals (&f.signals, err);
  if (r == 0 && wants_relay (request))
    r = relay_pair (f.console, err);
  own.console_fd = f.console[1] >= 0 ? f.console[1] : 0;
  if (r == 0)
    r = container_create_open (&own, &init, &c, err);
  if (r == 0)
    r = run_created (&own, &c, &init, &f, &code, err);
  foreground_end (&f);
  cleanup_closep (&init.pidfd);
  if (r == 0)
    *ret = code;
  return r;
}
