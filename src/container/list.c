/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the look at all containers, and at the processes of one.  Runs in the command's process;
   needs to read the state root.  Takes no lock: records are replaced in one rename, and who lists
   must not wait for a command that works on one container.  */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/container.h"
#include "linux/procfs.h"
#include "state/state.h"

#define ACCOUNTS    "/etc/passwd"
#define BROKEN      "broken"
#define CMDLINE_MAX (1024 * 1024)
#define COMM_MAX    64

/* From the file alone: name services load libraries and ask the network.  */
static char *owner_name (uid_t uid, struct arena *arena)
{
  cleanup_file FILE *file = fopen (ACCOUNTS, "re");
  struct passwd *account;

  while (file != NULL && (account = fgetpwent (file)) != NULL)
    if (account->pw_uid == uid)
      return arena_strdup (arena, account->pw_name);
  return arena_printf (arena, "#%u", uid);
}

static int fill (struct container *c, struct container_entry *e, struct arena *arena,
                 struct error *err)
{
  enum container_status status;
  const struct record *record = c->record;
  int r = container_status (c, &status, err);

  if (r < 0)
    return r;
  e->status = container_status_name (status);
  e->pid = status == CONTAINER_STOPPED ? 0 : record->pid;
  e->bundle = arena_strdup (arena, record->plan->bundle);
  e->rootfs = arena_strdup (arena, record->plan->rootfs ? record->plan->rootfs->path : "");
  e->created = arena_strdup (arena, record->created);
  e->owner = owner_name (record->owner, arena);
  if (e->bundle == NULL || e->rootfs == NULL || e->created == NULL || e->owner == NULL)
    return error_set (err, -ENOMEM, "out of memory for the list");
  return 0;
}

/* What is wrong with one record is told beside it; nobody should have to look for the others
   because of it.  */
static void look (struct container *c, struct container_entry *e, struct arena *arena)
{
  struct error err = { 0 };
  int r = state_read (c->dirfd, c->arena, &c->record, &err);

  if (r == 0 && c->record->plan == NULL)
    r = error_set (&err, -EINVAL, "the record of container \"%s\" has no plan", c->id);
  if (r == 0)
    r = fill (c, e, arena, &err);
  if (r < 0)
    {
      e->status = BROKEN;
      e->problem = arena_strdup (arena, err.message);
    }
}

static bool has_vanished (int rootfd, const char *id)
{
  cleanup_close int fd = -1;

  return state_dir_open (rootfd, id, &fd, NULL) == -ENOENT;
}

/* True: there is an entry.  */
static bool look_at (int rootfd, int procfd, const char *id, struct arena *arena,
                     struct container_entry *e)
{
  cleanup_close int dirfd = -1;
  cleanup_arena struct arena *own = arena_new ();
  struct container c = CONTAINER_INIT;
  c.id = id;
  c.rootfd = rootfd;
  c.procfd = procfd;
  c.arena = own;

  if (own == NULL || state_dir_open (rootfd, id, &dirfd, NULL) < 0)
    return false;
  c.dirfd = dirfd;
  *e = (struct container_entry){ .id = id, .bundle = "", .rootfs = "", .created = "", .owner = "" };
  look (&c, e, arena);
  /* Deleted since: there is no such container any more.  */
  return !str_equal (e->status, BROKEN) || !has_vanished (rootfd, id);
}

int container_list (const char *root, struct arena *arena, struct container_entry **ret,
                    size_t *ret_len, struct error *err)
{
  cleanup_close int rootfd = -1;
  cleanup_close int procfd = -1;
  char **ids = NULL;
  size_t n = 0, len = 0;
  int r = state_root_open (root, false, &rootfd, err);

  *ret = NULL;
  *ret_len = 0;
  if (r == -ENOENT)
    return 0; /* nobody has made a container yet */
  if (r == 0)
    r = procfs_open (&procfd, err);
  if (r == 0)
    r = state_list (rootfd, arena, &ids, &n, err);
  if (r < 0)
    return r;
  struct container_entry *entries = arena_alloc_array (arena, n, sizeof *entries);
  if (entries == NULL)
    return error_set (err, -ENOMEM, "out of memory for the list");
  for (size_t i = 0; i < n; i++)
    len += look_at (rootfd, procfd, ids[i], arena, &entries[len]);
  *ret = entries;
  *ret_len = len;
  return 0;
}

/* ---- the processes of one ---- */

/* Arguments separated by blanks, or the name in brackets of what has none (proc(5)).  */
static char *command_line (int procfd, pid_t pid, struct arena *arena)
{
  cleanup_free char *text = NULL;
  char path[32];
  size_t len = 0;

  snprintf (path, sizeof path, "%d/cmdline", pid);
  if (procfs_read (procfd, path, CMDLINE_MAX, &text, &len, NULL) == 0 && len > 0)
    {
      for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '\0')
          text[i] = ' ';
      return arena_strdup (arena, text);
    }
  free (text);
  text = NULL;
  snprintf (path, sizeof path, "%d/comm", pid);
  if (procfs_read (procfd, path, COMM_MAX, &text, &len, NULL) < 0)
    return arena_strdup (arena, "");
  text[strcspn (text, "\n")] = '\0';
  return arena_printf (arena, "[%s]", text);
}

int container_processes (const char *root, const char *id, struct arena *arena,
                         struct container_process **ret, size_t *ret_len, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  cleanup_cgroup struct cgroup *cgroup = NULL;
  cleanup_free pid_t *pids = NULL;
  size_t len = 0;
  int r = container_open (root, id, false, &c, err);

  if (r == 0)
    r = container_cgroup (&c, &cgroup, err);
  if (r == 0 && cgroup != NULL)
    r = cgroup_pids (cgroup, &pids, &len, err);
  if (r < 0)
    return r;
  struct container_process *list = arena_alloc_array (arena, len, sizeof *list);
  if (list == NULL)
    return error_set (err, -ENOMEM, "out of memory for the list of processes");
  for (size_t i = 0; i < len; i++)
    {
      list[i].pid = pids[i];
      list[i].command = command_line (c.procfd, pids[i], arena);
      if (list[i].command == NULL)
        return error_set (err, -ENOMEM, "out of memory for the list of processes");
    }
  *ret = list;
  *ret_len = len;
  return 0;
}
