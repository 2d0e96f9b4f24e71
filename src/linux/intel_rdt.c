/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent, as owner of the file system.  */
#include "linux/intel_rdt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define RESCTRL         "/sys/fs/resctrl"
#define RESCTRL_MAGIC   0x7655821
#define SCHEMATA_MAX    65536
#define GROUP_MODE      0755
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int intel_rdt_open (int *ret_root, struct error *err)
{
  cleanup_close int root = open (RESCTRL, DIRECTORY_FLAGS);
  struct statfs fs;
  if (root < 0 || fstatfs (root, &fs) < 0 || fs.f_type != RESCTRL_MAGIC)
    return error_set (err, -ENOTSUP, "no resctrl file system is mounted on " RESCTRL);
  *ret_root = steal_fd (&root);
  return 0;
}

static int write_line (int dir, const char *file, const char *line, const char *group,
                       struct error *err)
{
  cleanup_close int fd = openat (dir, file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  cleanup_free char *text = NULL;
  char quoted[STR_QUOTE_MAX];
  int len = asprintf (&text, "%s\n", line);
  if (len < 0)
    {
      text = NULL;
      return error_set (err, -ENOMEM, "out of memory for resctrl");
    }
  if (fd < 0 || write (fd, text, (size_t)len) != len)
    return error_errno (err, errno, "write \"%s\" to %s of resctrl group %s",
                        str_quote (line, quoted), file, group);
  return 0;
}

/* The kernel's lines are indented.  */
static bool has_line (const char *text, const char *line)
{
  size_t len = strlen (line);
  for (const char *at = text; at != NULL && *at != '\0';)
    {
      at += strspn (at, " \t");
      if (strncmp (at, line, len) == 0 && (at[len] == '\n' || at[len] == '\0'))
        return true;
      at = strchr (at, '\n');
      at += at != NULL;
    }
  return false;
}

static int compare_lines (int dir, const struct intel_rdt *r, struct error *err)
{
  cleanup_close int fd = openat (dir, "schemata", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  cleanup_free char *text = NULL;
  char quoted[STR_QUOTE_MAX];
  size_t len;
  if (fd < 0)
    return error_errno (err, errno, "open schemata of resctrl group %s", r->group);
  int result = fd_read_all (fd, SCHEMATA_MAX, "schemata", &text, &len, err);
  for (size_t i = 0; result == 0 && i < r->lines_len; i++)
    if (!has_line (text, r->lines[i]))
      result = error_set (err, -EINVAL,
                          "resctrl group %s is there already and doesn't have \"%s\": it is shared "
                          "and not changed",
                          r->group, str_quote (r->lines[i], quoted));
  return result;
}

static int open_group (int root, const struct intel_rdt *r, bool *ret_made, int *ret_dir,
                       struct error *err)
{
  int dir = openat (root, r->group, DIRECTORY_FLAGS);
  *ret_made = false;
  if (dir < 0 && errno == ENOENT && r->named && r->lines_len == 0)
    return error_set (err, -ENOENT, "resctrl group %s is not there, and no schema is given for it",
                      r->group);
  if (dir < 0 && errno == ENOENT && mkdirat (root, r->group, GROUP_MODE) == 0)
    {
      *ret_made = true;
      dir = openat (root, r->group, DIRECTORY_FLAGS);
    }
  if (dir < 0)
    return error_errno (err, errno, "make resctrl group %s", r->group);
  *ret_dir = dir;
  return 0;
}

static int set_lines (int dir, const struct intel_rdt *r, bool made, struct error *err)
{
  int result = 0;
  if (r->named && !made)
    return r->lines_len > 0 ? compare_lines (dir, r, err) : 0;
  for (size_t i = 0; result == 0 && i < r->lines_len; i++)
    result = write_line (dir, "schemata", r->lines[i], r->group, err);
  return result;
}

int intel_rdt_update (int root, const struct intel_rdt *r, struct error *err)
{
  cleanup_close int dir = openat (root, r->group, DIRECTORY_FLAGS);
  int result = dir < 0 ? error_errno (err, errno, "open resctrl group %s", r->group) : 0;
  for (size_t i = 0; result == 0 && i < r->lines_len; i++)
    result = write_line (dir, "schemata", r->lines[i], r->group, err);
  return result;
}

static int add_monitor (int dir, const struct intel_rdt *r, const char *pid, struct error *err)
{
  cleanup_close int groups = openat (dir, "mon_groups", DIRECTORY_FLAGS);
  if (groups < 0 || (mkdirat (groups, r->monitor, GROUP_MODE) < 0 && errno != EEXIST))
    return error_errno (err, errno, "make monitoring group %s of resctrl group %s", r->monitor,
                        r->group);
  cleanup_close int own = openat (groups, r->monitor, DIRECTORY_FLAGS);
  if (own < 0)
    return error_errno (err, errno, "open monitoring group %s", r->monitor);
  return write_line (own, "tasks", pid, r->monitor, err);
}

int intel_rdt_enter (int root, const struct intel_rdt *r, pid_t pid, bool *ret_made,
                     struct error *err)
{
  cleanup_close int dir = -1;
  struct error ignored;
  bool made;
  char number[16];
  snprintf (number, sizeof number, "%d", (int)pid);
  int result = open_group (root, r, &made, &dir, err);
  if (result < 0)
    return result;
  result = set_lines (dir, r, made, err);
  if (result == 0)
    result = write_line (dir, "tasks", number, r->group, err);
  if (result == 0 && r->monitor != NULL)
    result = add_monitor (dir, r, number, err);
  if (result < 0)
    (void)intel_rdt_leave (root, r, made, &ignored);
  else
    *ret_made = made;
  return result;
}

int intel_rdt_leave (int root, const struct intel_rdt *r, bool made, struct error *err)
{
  cleanup_close int dir = openat (root, r->group, DIRECTORY_FLAGS);
  cleanup_close int groups =
      dir < 0 || r->monitor == NULL ? -1 : openat (dir, "mon_groups", DIRECTORY_FLAGS);
  if (groups >= 0 && unlinkat (groups, r->monitor, AT_REMOVEDIR) < 0 && errno != ENOENT)
    return error_errno (err, errno, "remove monitoring group %s", r->monitor);
  if (made && unlinkat (root, r->group, AT_REMOVEDIR) < 0 && errno != ENOENT)
    return error_errno (err, errno, "remove resctrl group %s", r->group);
  return 0;
}
