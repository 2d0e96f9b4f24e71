/* SPDX-License-Identifier: Apache-2.0 */
/* state.json, written in one rename and read with suspicion.  Runs in every command; needs to own
   the container's state directory.  */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "state/internal.h"

#define VERSION 1

static int make_temporary (int dirfd)
{
  return openat (dirfd, STATE_TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0600);
}

static int write_temporary (int dirfd, const char *json, size_t len, struct error *err)
{
  cleanup_close int fd = make_temporary (dirfd);
  /* Left over from a command that was interrupted; the lock says that nobody is writing it now.  */
  if (fd < 0 && errno == EEXIST && unlinkat (dirfd, STATE_TEMPORARY, 0) == 0)
    fd = make_temporary (dirfd);
  if (fd < 0)
    return error_errno (err, errno, "make %s", STATE_TEMPORARY);
  int r = fd_write_all (fd, json, len, err);
  if (r >= 0 && fchmod (fd, 0600) < 0)
    r = error_errno (err, errno, "set the mode of %s", STATE_TEMPORARY);
  return r;
}

int state_write (int dirfd, const struct record *record, struct error *err)
{
  cleanup_arena struct arena *arena = arena_new ();
  char *json;
  size_t len;
  int r = arena == NULL ? -ENOMEM : oci_emit (&record_type, record, OCI_PRETTY, arena, &json, &len);

  if (r < 0)
    return error_errno (err, -r, "put the container's state into words for %s", STATE_FILE);
  r = write_temporary (dirfd, json, len, err);
  if (r >= 0 && renameat (dirfd, STATE_TEMPORARY, dirfd, STATE_FILE) < 0)
    r = error_errno (err, errno, "rename %s to %s", STATE_TEMPORARY, STATE_FILE);
  if (r < 0)
    {
      unlinkat (dirfd, STATE_TEMPORARY, 0);
      return error_context (err, "write the container's state");
    }
  return 0;
}

/* O_NONBLOCK: a fifo in its place would hold the command up.  */
static int open_file (int dirfd, int *ret_fd, size_t *ret_size, struct error *err)
{
  struct stat st;
  cleanup_close int fd =
      openat (dirfd, STATE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0 && errno == ENOENT)
    return error_set (err, -ENOENT, "the container has no %s: its creation was interrupted",
                      STATE_FILE);
  if (fd < 0 && errno == ELOOP)
    return error_set (err, -EPERM, "%s is a link, not a file", STATE_FILE);
  if (fd < 0 || fstat (fd, &st) < 0)
    return error_errno (err, errno, "open %s", STATE_FILE);
  if (!S_ISREG (st.st_mode))
    return error_set (err, -EPERM, "%s is not a regular file", STATE_FILE);
  if (st.st_uid != 0 && st.st_uid != geteuid ())
    return error_set (err, -EPERM, "%s belongs to another user", STATE_FILE);
  if (st.st_mode & (S_IWGRP | S_IWOTH))
    return error_set (err, -EPERM, "%s can be written by its group or others", STATE_FILE);
  *ret_fd = steal_fd (&fd);
  *ret_size = (size_t)st.st_size;
  return 0;
}

/* In one piece: nobody changes the file, only what its name stands for.  */
static int read_file (int fd, size_t size, char **ret, struct error *err)
{
  if (size > OCI_MAX_BYTES)
    return error_set (err, -EFBIG, "read %s: more than %zu bytes", STATE_FILE,
                      (size_t)OCI_MAX_BYTES);
  cleanup_free char *data = malloc (size + 1);
  if (data == NULL)
    return error_errno (err, ENOMEM, "read %s", STATE_FILE);
  ssize_t n = read (fd, data, size + 1);
  if (n < 0)
    return error_errno (err, errno, "read %s", STATE_FILE);
  if ((size_t)n != size)
    return error_set (err, -EIO, "%s was changed while it was read", STATE_FILE);
  data[size] = '\0';
  *ret = steal_ptr (&data);
  return 0;
}

/* What the commands read without asking.  */
static bool is_complete (const struct record *record)
{
  const struct plan *plan = record->plan;

  if (record->status == NULL || plan == NULL || plan->id == NULL || plan->bundle == NULL
      || plan->process == NULL || plan->process->capabilities == NULL || plan->cgroup == NULL
      || plan->cgroup->path == NULL || plan->config_digest == NULL || plan->policy_digest == NULL)
    return false;
  for (size_t i = 0; i < record->cgroups_len; i++)
    if (record->cgroups[i].controllers == NULL || record->cgroups[i].path == NULL)
      return false;
  for (size_t i = 0; i < record->namespaces_len; i++)
    if (record->namespaces[i].type == NULL)
      return false;
  return true;
}

static int parse (struct arena *arena, const char *json, size_t len, struct record **ret,
                  struct error *err)
{
  struct oci_report report = { 0 };
  struct record *record;
  void *object = NULL;
  int r = oci_parse (&record_type, arena, json, len, 0, &report, &object);

  if (r == -EINVAL && report.errors_len > 0)
    return error_set (err, -EINVAL, "%s is damaged: line %u, %s: %s", STATE_FILE,
                      report.errors[0].line, report.errors[0].rule, report.errors[0].message);
  if (r < 0)
    return error_errno (err, -r, "read %s", STATE_FILE);
  record = object;
  if (!record->has_version)
    return error_set (err, -EINVAL, "%s is not a state of agentrun: it has no version", STATE_FILE);
  if (record->version != VERSION)
    return error_set (err, -EINVAL, "%s has version %u, this agentrun knows version %d", STATE_FILE,
                      record->version, VERSION);
  /* Written by a version that has more to say under the same number: not ours to guess.  */
  if (report.unknown_len > 0)
    return error_set (err, -EINVAL, "%s has the unknown member %s", STATE_FILE,
                      report.unknown[0].pointer);
  if (!is_complete (record))
    return error_set (err, -EINVAL, "%s is damaged: a member that every state has is missing",
                      STATE_FILE);
  *ret = record;
  return 0;
}

int state_read (int dirfd, struct arena *arena, struct record **ret, struct error *err)
{
  cleanup_free char *json = NULL;
  size_t len = 0;
  int fd = -1;
  int r = open_file (dirfd, &fd, &len, err);

  if (r < 0)
    return r;
  cleanup_close int owned = fd;
  r = read_file (owned, len, &json, err);
  return r < 0 ? r : parse (arena, json, len, ret, err);
}
