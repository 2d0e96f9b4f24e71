/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the writes that plan.c made.  Runs in the parent (create, update), as owner of the
   groups.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define KNOB_MAX 65536

/* What the kernel means, where its errno alone doesn't say it.  */
static const struct
{
  const char *file;
  int errnum;
  const char *meaning;
} meanings[] = {
  { "memory.limit_in_bytes", EBUSY, " (the group uses more than that)" },
  { "memory.limit_in_bytes", EINVAL,
    " (above the limit of memory and swap that holds; give memory.swap as well)" },
  { "memory.memsw.limit_in_bytes", EBUSY, " (the group uses more than that)" },
  { "memory.memsw.limit_in_bytes", EINVAL, " (below the memory limit that holds)" },
  { "memory.memsw.limit_in_bytes", ENOENT, " (the kernel doesn't account swap)" },
  { "memory.swap.max", ENOENT, " (the kernel doesn't account swap)" },
  { "cpu.cfs_quota_us", EINVAL, " (out of the kernel's range, or more than the parent group has)" },
  { "cpu.max", EINVAL, " (out of the kernel's range)" },
  { "cpu.rt_runtime_us", EINVAL, " (more than the parent group has)" },
  { "cpu.rt_runtime_us", ENOENT, " (the kernel has no realtime group scheduling)" },
  { "cpu.rt_period_us", ENOENT, " (the kernel has no realtime group scheduling)" },
  { "cpuset.cpus", EACCES, " (not among those of the parent group)" },
  { "cpuset.cpus", EINVAL, " (not among those of the parent group, or none)" },
  { "cpuset.mems", EACCES, " (not among those of the parent group)" },
  { "cpuset.mems", EINVAL, " (not among those of the parent group, or none)" },
  { "blkio.bfq.weight", ENOENT, " (the kernel has no scheduler with weights)" },
  { "io.weight", ENOENT, " (the kernel has no scheduler with weights)" },
};

static const char *meaning_of (const char *file, int errnum)
{
  for (size_t i = 0; i < ARRAY_SIZE (meanings); i++)
    if (meanings[i].errnum == errnum && strcmp (meanings[i].file, file) == 0)
      return meanings[i].meaning;
  return "";
}

static const struct cgroup_dir *dir_of (const struct cgroup *cg, const struct cgroup_layout *layout,
                                        enum controller c)
{
  return layout->version[c] == CONTROLLER_V2 ? group_find_v2 (cg)
                                             : group_find_v1 (cg, controller_v1_names[c]);
}

/* /proc/swaps has a heading and one line an area.  */
static bool host_has_no_swap (void)
{
  cleanup_free char *text = NULL;
  cleanup_close int fd = open ("/proc/swaps", O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return errno == ENOENT;
  if (fd_read_all (fd, KNOB_MAX, "/proc/swaps", &text, NULL, NULL) < 0)
    return false;
  char *line = strchr (text, '\n');
  return line == NULL || line[1] == '\0';
}

static int check_usage (int fd, const struct cgroup_write *w, struct error *err)
{
  cleanup_free char *text = NULL;
  uint64_t limit, usage;
  int r = path_read_file (fd, "memory.current", KNOB_MAX, &text, NULL, err);

  if (r < 0)
    return r;
  text[strcspn (text, "\n")] = '\0';
  r = str_to_u64 (text, 0, UINT64_MAX, &usage);
  if (r >= 0)
    r = str_to_u64 (w->value, 0, UINT64_MAX, &limit);
  if (r < 0)
    return error_errno (err, -r, "compare memory.current with memory.limit");
  if (usage > limit)
    return error_set (err, -EBUSY,
                      "linux.resources.memory.limit: %s is below what the group uses, %s bytes",
                      w->value, text);
  return 0;
}

/* "QUOTA PERIOD" with the quota that cpu.max has.  */
static int keep_quota (int fd, const struct cgroup_write *w, char **ret, struct error *err)
{
  cleanup_free char *text = NULL;
  cleanup_strbuf struct strbuf b = { 0 };
  int r = path_read_file (fd, w->file, KNOB_MAX, &text, NULL, err);

  if (r < 0)
    return r;
  text[strcspn (text, " \n")] = '\0';
  strbuf_printf (&b, "%s %s", text, w->value);
  if (b.failed)
    return error_errno (err, ENOMEM, "linux.resources.%s", w->field);
  *ret = steal_ptr (&b.data);
  return 0;
}

static bool may_be_missing (const struct cgroup_write *w)
{
  return (w->flags & WRITE_IF_PRESENT) || ((w->flags & WRITE_NO_SWAP) && host_has_no_swap ());
}

static int write_one (const struct cgroup_dir *dir, const struct cgroup_write *w, struct error *err)
{
  cleanup_free char *composed = NULL;
  const char *file = w->file, *value = w->value;
  int r = 0;

  if (w->flags & WRITE_CHECK_USAGE)
    r = check_usage (dir->fd, w, err);
  if (r >= 0 && (w->flags & WRITE_KEEP_QUOTA))
    r = keep_quota (dir->fd, w, &composed, err);
  if (r < 0)
    return r;
  if (composed != NULL)
    value = composed;
  r = path_write_file (dir->fd, file, value, NULL);
  if (r == -ENOENT && w->other_file != NULL)
    {
      file = w->other_file;
      value = w->other_value;
      r = path_write_file (dir->fd, file, value, NULL);
    }
  if (r >= 0 || (r == -ENOENT && may_be_missing (w)))
    return 0;
  return error_errno (err, -r, "linux.resources.%s: write %s to %s/%s%s", w->field, value,
                      dir->path, file, meaning_of (file, -r));
}

/* One pass over what is still to write.  *RET_DEFERRED counts what failed but may succeed once the
   others are written.  */
static int write_pass (const struct cgroup *cg, const struct cgroup_layout *layout,
                       const struct cgroup_writes *writes, bool *done, size_t *ret_deferred,
                       struct error *err)
{
  size_t deferred = 0;

  for (size_t i = 0; i < writes->len; i++)
    {
      const struct cgroup_write *w = &writes->list[i];
      if (done[i])
        continue;
      int r = write_one (dir_of (cg, layout, w->controller), w, err);
      if (r == -EINVAL && (w->flags & WRITE_DEFER))
        deferred++;
      else if (r < 0)
        return r;
      else
        done[i] = true;
    }
  *ret_deferred = deferred;
  return 0;
}

int cgroup_apply (const struct cgroup *cg, const struct oci_resources *resources, struct error *err)
{
  cleanup_layout struct cgroup_layout layout = { 0 };
  cleanup_writes struct cgroup_writes writes = { 0 };
  cleanup_free bool *done = NULL;
  size_t before, deferred;
  int r = layout_of (cg, &layout, err);

  if (r >= 0)
    r = cgroup_plan_writes (&layout, resources, &writes, err);
  if (r < 0)
    return r;
  done = calloc (writes.len + 1, sizeof (*done));
  if (done == NULL)
    return error_errno (err, ENOMEM, "apply linux.resources");

  /* As long as each pass gets something done, the next may help the rest.  */
  deferred = writes.len;
  do
    {
      before = deferred;
      r = write_pass (cg, &layout, &writes, done, &deferred, err);
    }
  while (r >= 0 && deferred > 0 && deferred < before);
  if (r < 0)
    return r;
  return deferred == 0 ? 0 : err == NULL ? -EINVAL : err->code;
}
