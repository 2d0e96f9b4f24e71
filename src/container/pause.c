/* SPDX-License-Identifier: Apache-2.0 */
/* Owns pause and resume: the freezer of the container's cgroup.  Runs in the command's process,
   with the container locked, as owner of the cgroups.  */
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "container/container.h"
#include "linux/process.h"

static int open_cgroup (const struct container *c, struct cgroup **ret, struct error *err)
{
  int r = container_cgroup (c, ret, err);

  if (r == 0 && *ret == NULL)
    r = error_set (err, -ENOENT, "container \"%s\" has no cgroup that could be frozen", c->id);
  return r;
}

/* Who runs the command inside of the container's group would never wake up to thaw it.  */
static int check_outside (const struct container *c, const struct cgroup *cgroup, struct error *err)
{
  cleanup_free pid_t *pids = NULL;
  size_t len;
  int r = cgroup_pids (cgroup, &pids, &len, err);

  for (size_t i = 0; r == 0 && i < len; i++)
    if (pids[i] == getpid ())
      return error_set (err, -EBUSY,
                        "container \"%s\" can't be paused: this command is in its cgroup", c->id);
  return r;
}

/* A container that ended while it was being frozen must not leave a frozen group behind.  */
static int check_alive (const struct container *c, const struct cgroup *cgroup, struct error *err)
{
  bool alive = false;
  int r = process_alive (c->procfd, c->record->pid, c->record->start_time, &alive, err);

  if (r == 0 && alive)
    return 0;
  (void)cgroup_freeze (cgroup, false, NULL);
  return r < 0 ? r : error_set (err, -ESRCH, "container not running: \"%s\" has just ended", c->id);
}

static int pause_opened (const struct container *c, struct error *err)
{
  enum container_status status;
  cleanup_cgroup struct cgroup *cgroup = NULL;
  int r = container_status (c, &status, err);

  if (r < 0)
    return r;
  if (status == CONTAINER_STOPPED)
    return error_set (err, -ESRCH, "container not running: \"%s\" is stopped", c->id);
  if (status != CONTAINER_RUNNING && status != CONTAINER_CREATED)
    return error_set (err, -EINVAL, "container \"%s\" can't be paused: it is %s", c->id,
                      container_status_name (status));
  r = open_cgroup (c, &cgroup, err);
  if (r == 0)
    r = check_outside (c, cgroup, err);
  if (r == 0)
    r = cgroup_freeze (cgroup, true, err);
  return r < 0 ? r : check_alive (c, cgroup, err);
}

static int resume_opened (const struct container *c, struct error *err)
{
  enum container_status status;
  cleanup_cgroup struct cgroup *cgroup = NULL;
  int r = container_status (c, &status, err);

  if (r < 0)
    return r;
  if (status != CONTAINER_PAUSED)
    return error_set (err, -EINVAL, "container not paused: \"%s\" is %s", c->id,
                      container_status_name (status));
  r = open_cgroup (c, &cgroup, err);
  return r < 0 ? r : cgroup_freeze (cgroup, false, err);
}

int container_pause (const char *root, const char *id, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  int r = container_open (root, id, false, &c, err);

  return r < 0 ? r : pause_opened (&c, err);
}

int container_resume (const char *root, const char *id, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  int r = container_open (root, id, false, &c, err);

  return r < 0 ? r : resume_opened (&c, err);
}
