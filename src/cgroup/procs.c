/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are in the groups.  Runs wherever a container is handled; needs to be in the pid
   namespace of the processes or above it.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/path.h"

#define PROCS_MAX (64 * 1024 * 1024)

struct pids
{
  pid_t *list;
  size_t len;
  size_t size;
};

static int pids_add (struct pids *p, pid_t pid)
{
  if (p->len == p->size)
    {
      size_t size = p->size == 0 ? 64 : p->size * 2;
      pid_t *list = realloc (p->list, size * sizeof (*list));
      if (list == NULL)
        return -ENOMEM;
      p->list = list;
      p->size = size;
    }
  p->list[p->len++] = pid;
  return 0;
}

static int read_procs (int dirfd, void *data, struct error *err)
{
  cleanup_free char *text = NULL;
  int r = path_read_file (dirfd, "cgroup.procs", PROCS_MAX, &text, NULL, err);

  /* A threaded group doesn't list processes, the domain above it does; one that has just vanished
     has none.  */
  if (r == -EOPNOTSUPP || r == -ENOENT || r == -ENODEV)
    return 0;
  if (r < 0)
    return r;
  for (char *p = text; *p != '\0';)
    {
      char *end;
      long pid = strtol (p, &end, 10);
      if (end == p)
        break;
      /* 0 is a process that this pid namespace doesn't see.  */
      if (pid > 0 && pids_add (data, (pid_t)pid) < 0)
        return error_errno (err, ENOMEM, "list the processes of a cgroup");
      p = end + (*end == '\n');
    }
  return 0;
}

static int compare (const void *a, const void *b)
{
  pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

  return (x > y) - (x < y);
}

/* Over all hierarchies: a process that left the group in one is still in the others.  */
int cgroup_pids (const struct cgroup *cg, pid_t **ret, size_t *ret_len, struct error *err)
{
  struct pids p = { 0 };
  struct walk_calls calls = { .enter = read_procs, .data = &p };
  size_t kept = 0;
  int r = 0;

  for (size_t i = 0; r >= 0 && i < cg->len; i++)
    r = walk_groups (cg->dirs[i].fd, &calls, err);
  if (r >= 0 && p.len == 0 && pids_add (&p, 0) < 0)
    r = error_errno (err, ENOMEM, "list the processes of a cgroup");
  if (r < 0)
    {
      free (p.list);
      return r;
    }
  qsort (p.list, p.len, sizeof (*p.list), compare);
  for (size_t i = 0; i < p.len; i++)
    if (p.list[i] != 0 && (kept == 0 || p.list[i] != p.list[kept - 1]))
      p.list[kept++] = p.list[i];
  *ret = p.list;
  *ret_len = kept;
  return 0;
}
