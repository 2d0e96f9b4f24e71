/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to containers that agentrun made and that run: their namespaces, and the directories
   that they may write.  Reads the state directory only, without locks: an inode counts for as long
   as its container's first process lives, no longer, since the kernel gives the number to another
   object afterwards.  */
#include <errno.h>
#include <linux/mount.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "container/container.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "plan/make.h"
#include "policy/policy.h"
#include "state/state.h"

static bool is_alive (int procfd, const struct record *record)
{
  bool alive = false;
  return record->has_pid && record->pid > 0
         && process_alive (procfd, record->pid, record->start_time, &alive, NULL) == 0 && alive;
}

static int add_record (const struct record *record, struct arena *arena, struct facts *facts)
{
  size_t have = facts->recorded_len, more = record->namespaces_len;
  struct fact_recorded *list =
      arena_grow (arena, facts->recorded, have * sizeof *list, (have + more) * sizeof *list);
  if (list == NULL)
    return more == 0 ? 0 : -ENOMEM;
  facts->recorded = list;
  facts->has_recorded = true;
  for (size_t i = 0; i < more; i++)
    {
      struct fact_recorded *f = &list[facts->recorded_len++];
      memset (f, 0, sizeof *f);
      f->id = record->plan->id;
      f->pod = (char *)policy_recorded_pod (&record->plan->annotations, record->plan->id,
                                            record->plan->process->args,
                                            record->plan->process->args_len);
      f->type = record->namespaces[i].type;
      SET_NUMBER (f, dev, record->namespaces[i].dev);
      SET_NUMBER (f, ino, record->namespaces[i].ino);
    }
  return 0;
}

static int add_writers (const struct record *record, struct arena *arena, struct facts *facts)
{
  const struct plan *plan = record->plan;
  for (size_t i = 0; i < plan->mounts_len; i++)
    {
      const struct plan_mount *m = &plan->mounts[i];
      if (!str_equal (m->kind, "bind") || (m->attr_set & MOUNT_ATTR_RDONLY) != 0 || !m->has_ino)
        continue;
      size_t have = facts->writers_len;
      struct fact_writer *list =
          arena_grow (arena, facts->writers, have * sizeof *list, (have + 1) * sizeof *list);
      if (list == NULL)
        return -ENOMEM;
      list[have] = (struct fact_writer){ .id = plan->id };
      SET_NUMBER (&list[have], dev, m->dev);
      SET_NUMBER (&list[have], ino, m->ino);
      facts->writers = list;
      facts->writers_len++;
      facts->has_writers = true;
    }
  return 0;
}

static int look_at (int rootfd, int procfd, const char *id, struct arena *arena,
                    struct facts *facts)
{
  cleanup_close int dirfd = -1;
  struct record *record;
  if (state_dir_open (rootfd, id, &dirfd, NULL) < 0 || state_read (dirfd, arena, &record, NULL) < 0
      || record->plan == NULL || !is_alive (procfd, record))
    return 0;
  int r = add_record (record, arena, facts);
  return r < 0 ? r : add_writers (record, arena, facts);
}

int container_recorded (const char *root, struct arena *arena, struct facts *facts,
                        struct error *err)
{
  cleanup_close int rootfd = -1, procfd = -1;
  char **ids;
  size_t n;
  int r = state_root_open (root, false, &rootfd, err);
  if (r == -ENOENT)
    return 0;
  if (r == 0)
    r = procfs_open (&procfd, err);
  if (r == 0)
    r = state_list (rootfd, arena, &ids, &n, err);
  for (size_t i = 0; r == 0 && i < n; i++)
    r = look_at (rootfd, procfd, ids[i], arena, facts);
  return r == -ENOMEM ? error_set (err, r, "out of memory for the record") : r;
}
