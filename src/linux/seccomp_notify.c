/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in init or a process that joins, as its last act but execve, which ends the second thread.
 */
#include "linux/seccomp_notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define STACK_SIZE      (64UL * 1024)
#define SECONDS_TO_SEND 10
#define POLL_NANOSECS   50000L

/* What both threads look at.  */
struct handover
{
  int agent;
  const char *message;
  atomic_int listener; /* -1: not yet; LOAD_FAILED: there is none */
  atomic_int result;   /* NOT_SENT, or what sending gave */
  struct error err;
};

enum
{
  NO_LISTENER = -1,
  LOAD_FAILED = -2,
  NOT_SENT = 1
};

static void *send_listener (void *data)
{
  const struct timespec moment = { 0, POLL_NANOSECS };
  struct handover *h = data;
  int fd;
  while ((fd = atomic_load (&h->listener)) == NO_LISTENER)
    nanosleep (&moment, NULL);
  atomic_store (&h->result, fd == LOAD_FAILED
                                ? 0
                                : fd_send (h->agent, fd, h->message, strlen (h->message), &h->err));
  return NULL;
}

static int start_thread (struct handover *h, pthread_t *ret, struct error *err)
{
  pthread_attr_t attributes;
  int r = pthread_attr_init (&attributes);
  if (r == 0)
    {
      pthread_attr_setstacksize (&attributes, STACK_SIZE);
      r = pthread_create (ret, &attributes, send_listener, h);
      pthread_attr_destroy (&attributes);
    }
  return r == 0 ? 0
                : error_errno (err, r,
                               "start the thread that hands the seccomp listener over (a limit of "
                               "processes?)");
}

/* The clock is read without a system call.  */
static int wait_until_sent (struct handover *h, struct error *err)
{
  struct timespec begin, now;
  int r;
  clock_gettime (CLOCK_MONOTONIC, &begin);
  while ((r = atomic_load (&h->result)) == NOT_SENT)
    {
      clock_gettime (CLOCK_MONOTONIC, &now);
      if (now.tv_sec - begin.tv_sec > SECONDS_TO_SEND)
        return error_set (err, -ETIMEDOUT, "the seccomp agent doesn't take its listener");
    }
  if (r < 0)
    *err = h->err;
  return r < 0 ? error_context (err, "send the listener to the seccomp agent") : 0;
}

int seccomp_program_load_notify (const struct seccomp_program *program, int agent,
                                 const char *message, struct error *err)
{
  /* Alive for as long as the process: on failure the thread may still look at it.  */
  static struct handover h;
  struct sock_fprog fprog = { .len = program->len, .filter = program->filter };
  /* One thread has nothing to synchronise with, and the sender must stay free.  */
  unsigned flags = program->flags & ~(unsigned)SECCOMP_FILTER_FLAG_TSYNC;
  pthread_t thread;
  h.agent = agent;
  h.message = message;
  atomic_store (&h.listener, NO_LISTENER);
  atomic_store (&h.result, NOT_SENT);
  int r = start_thread (&h, &thread, err);
  if (r < 0)
    return r;
  long fd = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_NEW_LISTENER,
                     &fprog);
  int saved = errno;
  atomic_store (&h.listener, fd < 0 ? LOAD_FAILED : (int)fd);
  if (fd >= 0)
    return wait_until_sent (&h, err);
  pthread_join (thread, NULL);
  return error_errno (err, saved, "load the seccomp filter with a listener");
}
