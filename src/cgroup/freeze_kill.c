/* SPDX-License-Identifier: Apache-2.0 */
/* Stops, resumes and signals a whole container.  Runs in the command that does it (pause, resume,
   kill, delete), as owner of the groups.  cgroup2 does each in one write, in a hybrid set-up as
   well; the v1 freezer is the fallback.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define KNOB_MAX        65536
#define FREEZE_MS       2000
#define SIGNALS_AT_ONCE 64
#define UNFROZEN_ROUNDS 50

/* Where freezing is done: by cgroup2 if it can, else by the v1 freezer.  */
struct freezer
{
  const char *controller; /* NULL: cgroup2 */
  const char *file;
  const char *values[2]; /* thawed, frozen */
  const char *state_file;
  const char *frozen_line;
};

static const struct freezer freezers[] = {
  { NULL, "cgroup.freeze", { "0", "1" }, "cgroup.events", "frozen 1" },
  { "freezer", "freezer.state", { "THAWED", "FROZEN" }, "freezer.state", "FROZEN" },
};

static const struct cgroup_dir *freezer_dir (const struct cgroup *cg, const struct freezer *f)
{
  return f->controller == NULL ? group_find_v2 (cg) : group_find_v1 (cg, f->controller);
}

static int read_state (const struct cgroup_dir *dir, const struct freezer *f, bool *ret)
{
  cleanup_free char *text = NULL;
  int r = path_read_knob (dir->fd, f->state_file, KNOB_MAX, &text, NULL);

  if (r < 0)
    return r;
  *ret = list_has (text, "\n", f->frozen_line);
  return 0;
}

static bool has_vanished (int r) { return r == -ENOENT || r == -ENODEV; }

int cgroup_is_frozen (const struct cgroup *cg, bool *ret, struct error *err)
{
  bool any = false;

  for (size_t i = 0; i < ARRAY_SIZE (freezers); i++)
    {
      const struct cgroup_dir *dir = freezer_dir (cg, &freezers[i]);
      bool frozen = false;
      int r = dir == NULL ? 0 : read_state (dir, &freezers[i], &frozen);
      if (r < 0 && !has_vanished (r))
        return error_errno (err, -r, "read %s/%s", dir->path, freezers[i].state_file);
      any |= frozen;
    }
  *ret = any;
  return 0;
}

/* Everywhere, whoever froze it.  Reports the first failure but tries all.  */
static int thaw (const struct cgroup *cg, struct error *err)
{
  int failed = 0;

  for (size_t i = 0; i < ARRAY_SIZE (freezers); i++)
    {
      const struct freezer *f = &freezers[i];
      const struct cgroup_dir *dir = freezer_dir (cg, f);
      int r = dir == NULL ? 0 : path_write_file (dir->fd, f->file, f->values[0], NULL);
      if (r < 0 && !has_vanished (r) && failed == 0)
        failed = error_errno (err, -r, "write %s to %s/%s", f->values[0], dir->path, f->file);
    }
  return failed;
}

/* Until the kernel says that all are stopped.  A v1 freeze may get stuck on a process that is just
   forking or sleeping uninterruptibly; asking again helps the first.  */
static int freeze_and_wait (const struct cgroup_dir *dir, const struct freezer *f)
{
  int64_t deadline = monotonic_ms () + FREEZE_MS;
  unsigned pause_ms = 1;

  for (;;)
    {
      bool frozen = false;
      int r = path_write_file (dir->fd, f->file, f->values[1], NULL);
      if (r >= 0)
        r = read_state (dir, f, &frozen);
      if (r < 0 || frozen)
        return r;
      if (monotonic_ms () >= deadline)
        return -ETIMEDOUT;
      wait_and_double (&pause_ms);
    }
}

int cgroup_freeze (const struct cgroup *cg, bool frozen, struct error *err)
{
  if (!frozen)
    return thaw (cg, err);
  for (size_t i = 0; i < ARRAY_SIZE (freezers); i++)
    {
      const struct freezer *f = &freezers[i];
      const struct cgroup_dir *dir = freezer_dir (cg, f);
      int r = dir == NULL ? -ENOENT : freeze_and_wait (dir, f);
      if (r >= 0)
        return 0;
      if (has_vanished (r))
        continue; /* no group here, or a kernel without cgroup.freeze (Linux 5.2) */
      thaw (cg, NULL);
      return error_errno (err, -r, "freeze the cgroup %s", dir->path);
    }
  return error_set (err, -ENOENT, "freeze the container: its cgroups have no freezer");
}

/* ---- signals */

static bool is_listed (const pid_t *pids, size_t len, pid_t pid)
{
  size_t low = 0, high = len;

  while (low < high)
    {
      size_t middle = (low + high) / 2;
      if (pids[middle] < pid)
        low = middle + 1;
      else
        high = middle;
    }
  return low < len && pids[low] == pid;
}

/* Between the listing and the signal a pid may become another process's.  So each is opened, and
   signalled only when the group still lists it afterwards.  */
static int signal_some (const struct cgroup *cg, const pid_t *pids, size_t len, int signal,
                        struct error *err)
{
  cleanup_free pid_t *now = NULL;
  size_t now_len;
  int fds[SIGNALS_AT_ONCE];
  int failed = 0;

  for (size_t i = 0; i < len; i++)
    fds[i] = fd_pidfd_open (pids[i]);
  int r = cgroup_pids (cg, &now, &now_len, err);
  for (size_t i = 0; i < len; i++)
    {
      if (fds[i] < 0)
        {
          if (fds[i] != -ESRCH && failed == 0)
            failed = error_errno (err, -fds[i], "open process %d to signal it", (int)pids[i]);
          continue;
        }
      if (r >= 0 && is_listed (now, now_len, pids[i])
          && syscall (SYS_pidfd_send_signal, fds[i], signal, NULL, 0) < 0 && errno != ESRCH
          && failed == 0)
        failed = error_errno (err, errno, "send signal %d to process %d", signal, (int)pids[i]);
      close (fds[i]);
    }
  return r < 0 ? r : failed;
}

/* *RET_COUNT: how many were there.  */
static int signal_listed (const struct cgroup *cg, int signal, size_t *ret_count, struct error *err)
{
  cleanup_free pid_t *pids = NULL;
  size_t len;
  int r = cgroup_pids (cg, &pids, &len, err);

  if (r < 0)
    return r;
  /* Someone who runs the command inside the container's group would kill it half-way.  */
  if (is_listed (pids, len, getpid ()))
    return error_set (err, -EBUSY,
                      "signal the processes of the container: this command is one of "
                      "them, by its cgroup");
  for (size_t i = 0; r >= 0 && i < len; i += SIGNALS_AT_ONCE)
    r = signal_some (cg, pids + i, len - i < SIGNALS_AT_ONCE ? len - i : SIGNALS_AT_ONCE, signal,
                     err);
  *ret_count = len;
  return r;
}

/* Without a freezer a fork may run ahead of the list, so SIGKILL goes round until none is left; any
   other signal is sent once, since twice is not the same as once.  */
static int signal_unfrozen (const struct cgroup *cg, int signal, struct error *err)
{
  unsigned pause_ms = 1;
  size_t count = 1;
  int r = 0;

  for (unsigned i = 0; r >= 0 && count > 0 && i < UNFROZEN_ROUNDS; i++)
    {
      r = signal_listed (cg, signal, &count, err);
      if (signal != SIGKILL)
        break;
      if (count > 0)
        wait_and_double (&pause_ms);
    }
  return r;
}

/* The kernel kills all at once, forks included (cgroup.kill, Linux 5.14).  True if it did.  */
static bool kill_by_kernel (const struct cgroup *cg)
{
  const struct cgroup_dir *dir = group_find_v2 (cg);

  return dir != NULL && path_write_file (dir->fd, "cgroup.kill", "1", NULL) >= 0;
}

int cgroup_kill_all (const struct cgroup *cg, int signal, struct error *err)
{
  bool was_frozen = false;
  size_t count;
  int r = cgroup_is_frozen (cg, &was_frozen, err);

  if (r < 0)
    return r;
  if (signal == SIGKILL)
    {
      /* By list as well: it refuses to kill ourselves, and finds who is in a v1 group only.  */
      r = signal_listed (cg, signal, &count, err);
      if (r < 0 && r != -EPERM)
        return r;
      if (kill_by_kernel (cg))
        return thaw (cg, err);
    }
  /* Frozen, nothing forks away.  Where that fails, the fallback does what it can.  */
  if (was_frozen || cgroup_freeze (cg, true, NULL) >= 0)
    r = signal_listed (cg, signal, &count, err);
  else
    r = signal_unfrozen (cg, signal, err);
  /* A paused container stays paused, unless it was killed: frozen on v1 it would not even die.  */
  if (!was_frozen || signal == SIGKILL)
    {
      int thawed = thaw (cg, r < 0 ? NULL : err);
      r = r < 0 ? r : thawed;
    }
  return r;
}
