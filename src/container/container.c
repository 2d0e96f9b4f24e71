/* SPDX-License-Identifier: Apache-2.0 */
#include "container/container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "spec/validate.h"
#include "state/state.h"

#define STATE_SPEC_VERSION "1.3.0"

static const char *const status_names[] = {
  [CONTAINER_CREATING] = "creating", [CONTAINER_CREATED] = "created",
  [CONTAINER_RUNNING] = "running",   [CONTAINER_PAUSED] = "paused",
  [CONTAINER_STOPPED] = "stopped",
};

const char *container_status_name (enum container_status status) { return status_names[status]; }

struct open_how
{
  bool exclusive;
  bool allow_broken;
};

static int open_parts (const char *root, const char *id, struct open_how how, struct container *c,
                       struct error *err)
{
  int r = state_root_open (root, false, &c->rootfd, err);
  if (r == -ENOENT)
    return error_set (err, r, "container \"%s\" does not exist", id);
  if (r == 0)
    r = state_dir_open (c->rootfd, id, &c->dirfd, err);
  if (r == 0)
    r = state_lock (c->rootfd, id, c->dirfd, how.exclusive, CONTAINER_LOCK_MS, &c->lock, err);
  if (r == 0)
    r = procfs_open (&c->procfd, err);
  if (r < 0)
    return r;
  r = state_read (c->dirfd, c->arena, &c->record, err);
  /* No record: create was interrupted before it made anything else.  A damaged one is an error all
     the same, or the process and the cgroups that it names would be left to nobody.  */
  if (r == -ENOENT && how.allow_broken)
    {
      c->record = NULL;
      return 0;
    }
  return r;
}

static int open_container (const char *root, const char *id, struct open_how how,
                           struct container *ret, struct error *err)
{
  struct container c = CONTAINER_INIT;
  c.id = id;
  int r = container_id_check (id, err);
  if (r < 0)
    return r;
  c.arena = arena_new ();
  if (c.arena == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  r = open_parts (root, id, how, &c, err);
  if (r < 0)
    {
      container_close (&c);
      return r;
    }
  *ret = c;
  return 0;
}

int container_open (const char *root, const char *id, bool allow_broken, struct container *ret,
                    struct error *err)
{
  return open_container (root, id, (struct open_how){ true, allow_broken }, ret, err);
}

int container_open_shared (const char *root, const char *id, struct container *ret,
                           struct error *err)
{
  return open_container (root, id, (struct open_how){ false, false }, ret, err);
}

void container_close (struct container *c)
{
  cleanup_closep (&c->start);
  cgroup_close (c->cgroup);
  c->cgroup = NULL;
  state_unlock (&c->lock);
  cleanup_closep (&c->dirfd);
  cleanup_closep (&c->rootfd);
  cleanup_closep (&c->procfd);
  c->dirfd = c->rootfd = c->procfd = -1;
  arena_free (c->arena);
  c->arena = NULL;
}

static int open_cgroup (const struct record *record, bool (*wanted) (const char *controllers),
                        struct cgroup **ret, struct error *err);

/* Of the ten hierarchies of a v1 host one or two freeze.  */
static bool may_freeze (const char *controllers)
{
  return controllers[0] == '\0' || strstr (controllers, "freezer") != NULL;
}

static int is_paused (const struct container *c, bool *ret, struct error *err)
{
  struct cgroup *cgroup = NULL;
  int r = open_cgroup (c->record, may_freeze, &cgroup, err);
  *ret = false;
  if (r < 0 || cgroup == NULL)
    return r;
  r = cgroup_is_frozen (cgroup, ret, err);
  cgroup_close (cgroup);
  return r;
}

int container_status (const struct container *c, enum container_status *ret, struct error *err)
{
  bool alive, paused;
  const struct record *record = c->record;
  *ret = CONTAINER_STOPPED;
  if (record == NULL || !record->has_pid || record->pid <= 0)
    return 0;
  int r = process_alive (c->procfd, record->pid, record->start_time, &alive, err);
  if (r < 0 || !alive)
    return r;
  r = is_paused (c, &paused, err);
  if (r < 0)
    return r;
  if (paused)
    *ret = CONTAINER_PAUSED;
  else if (str_equal (record->status, "creating"))
    *ret = CONTAINER_CREATING;
  else
    *ret = str_equal (record->status, "created") ? CONTAINER_CREATED : CONTAINER_RUNNING;
  return 0;
}

char *container_state_json (const struct plan *plan, pid_t pid, const char *status)
{
  struct arena *arena = arena_new ();
  char *json = NULL, *copy = NULL;
  size_t len;
  struct oci_state state = {
    .oci_version = (char *)STATE_SPEC_VERSION,
    .id = plan->id,
    .status = (char *)status,
    .has_pid = pid > 0,
    .pid = pid,
    .bundle = plan->bundle,
    .annotations = plan->annotations,
  };
  if (arena != NULL && oci_emit (&oci_state_type, &state, OCI_PRETTY, arena, &json, &len) == 0)
    copy = strdup (json);
  arena_free (arena);
  return copy;
}

static int open_cgroup (const struct record *record, bool (*wanted) (const char *controllers),
                        struct cgroup **ret, struct error *err)
{
  size_t n = 0;
  *ret = NULL;
  if (record == NULL || record->cgroups_len == 0)
    return 0;
  cleanup_free const char **controllers = calloc (record->cgroups_len, sizeof *controllers);
  cleanup_free const char **paths = calloc (record->cgroups_len, sizeof *paths);
  if (controllers == NULL || paths == NULL)
    return error_set (err, -ENOMEM, "out of memory");
  for (size_t i = 0; i < record->cgroups_len; i++)
    if (wanted == NULL || wanted (record->cgroups[i].controllers))
      {
        controllers[n] = record->cgroups[i].controllers;
        paths[n++] = record->cgroups[i].path;
      }
  int r = cgroup_open (controllers, paths, n, ret, err);
  for (size_t i = 0; r == 0 && i < record->cgroups_len; i++)
    if (record->cgroups[i].made > 1)
      cgroup_note_made (*ret, record->cgroups[i].path, record->cgroups[i].made);
  return r;
}

int container_cgroup (const struct container *c, struct cgroup **ret, struct error *err)
{
  return open_cgroup (c->record, NULL, ret, err);
}
