/* SPDX-License-Identifier: Apache-2.0 */
/* Owns `events`: what a container uses, now and then, and what happens to it.  Runs in the
   command's process; the container isn't locked while it waits.  */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "container/container.h"
#include "linux/process.h"
#include "state/state.h"

struct watch
{
  const struct events_request *request;
  const char *id;
  const struct cgroup *cgroup;
  int init, oom;
  short oom_events;
  uint64_t kills;
  int looks; /* how often to look again soon */
};

/* v1 tells of it before it kills and counts.  */
#define LOOKS_AFTER_EVENT 40
#define LOOK_MS           50

static int say (const struct watch *w, const char *type, bool with_data, struct error *err)
{
  cleanup_strbuf struct strbuf line = { 0 };

  strbuf_printf (&line, "{\"type\":\"%s\",\"id\":", type);
  strbuf_json_string (&line, w->id);
  if (with_data)
    {
      strbuf_add (&line, ",\"data\":");
      cgroup_stats (w->cgroup, &line);
    }
  strbuf_add (&line, "}");
  if (line.failed)
    return error_set (err, -ENOMEM, "out of memory for an event");
  return w->request->say (line.data, err);
}

static int say_new_kills (struct watch *w, struct error *err)
{
  uint64_t kills = cgroup_oom_kills (w->cgroup);
  int r = 0;

  for (; r == 0 && w->kills < kills; w->kills++)
    r = say (w, "oom", false, err);
  return r;
}

static void empty (int fd)
{
  uint64_t count;

  while (read (fd, &count, sizeof count) > 0)
    continue;
}

/* Until the container ends or INTERVAL is over.  *RET_ENDED tells which.  */
static int wait_for_news (struct watch *w, int interval_ms, bool *ret_ended, struct error *err)
{
  struct pollfd fds[] = { { .fd = w->init, .events = POLLIN },
                          { .fd = w->oom, .events = w->oom_events } };
  int timeout = w->looks > 0 && interval_ms > LOOK_MS ? LOOK_MS : interval_ms;
  int n = poll (fds, w->oom >= 0 ? 2 : 1, timeout);

  if (n < 0 && errno != EINTR)
    return error_errno (err, errno, "wait for an event");
  *ret_ended = n > 0 && fds[0].revents != 0;
  if (n > 0 && fds[1].revents != 0)
    w->looks = LOOKS_AFTER_EVENT;
  else if (w->looks > 0)
    w->looks--;
  if (n > 0 && (fds[1].revents & POLLIN) != 0 && w->oom_events == POLLIN)
    empty (w->oom);
  return say_new_kills (w, err);
}

static int64_t events_clock (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int follow (struct watch *w, struct error *err)
{
  struct error ignored;
  bool ended = false;
  int r = 0;

  /* Without a memory controller there is nothing of that kind to tell.  */
  if (cgroup_oom_watch (w->cgroup, &w->oom, &w->oom_events, &ignored) < 0)
    w->oom = -1;
  w->kills = cgroup_oom_kills (w->cgroup);
  while (r == 0 && !ended)
    {
      /* A kill in between doesn't bring the next statistics forward.  */
      int64_t left = w->request->interval_ms, begun = events_clock ();

      r = say (w, "stats", true, err);
      while (r == 0 && !ended && left > 0)
        {
          r = wait_for_news (w, (int)left, &ended, err);
          left = w->request->interval_ms - (events_clock () - begun);
        }
    }
  return r;
}

int container_events (const char *root, const char *id, const struct events_request *request,
                      struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  cleanup_cgroup struct cgroup *cgroup = NULL;
  cleanup_close int init = -1;
  enum container_status status;
  int r = container_open (root, id, false, &c, err);

  if (r == 0)
    r = container_status (&c, &status, err);
  if (r == 0 && status == CONTAINER_STOPPED)
    r = error_set (err, -ESRCH, "container not running: \"%s\" is stopped", id);
  if (r == 0)
    r = container_cgroup (&c, &cgroup, err);
  if (r == 0 && cgroup == NULL)
    r = error_set (err, -ENOENT, "container \"%s\" has no cgroup that could be looked at", id);
  if (r == 0)
    r = process_open (c.procfd, c.record->pid, c.record->start_time, &init, err);
  if (r < 0)
    return r;
  struct watch w = { .request = request, .id = id, .cgroup = cgroup, .init = init, .oom = -1 };
  state_unlock (&c.lock);
  r = request->once ? say (&w, "stats", true, err) : follow (&w, err);
  cleanup_closep (&w.oom);
  return r;
}
