/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the system calls of the descriptor-based mount API and their error texts.  Runs in parent
   (clones of judged sources) and init (everything else); needs CAP_SYS_ADMIN over the mount
   namespace.  */

#include "linux/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

static int mount_error (struct error *err, int errnum, const char *call, const char *what)
{
  if (errnum == ENOSYS)
    return error_set (err, -ENOSYS, "%s: this kernel has no %s(2); Linux 5.12 or newer is needed",
                      what, call);
  return error_errno (err, errnum, "%s", what);
}

/* What the file system said about its own refusal: the first error line of the context's log, a
   letter, a blank and the text.  An empty string if it said nothing.  */
static const char *context_log (int fsfd, char *buffer, size_t size)
{
  for (;;)
    {
      ssize_t n = read (fsfd, buffer, size - 1);
      if (n <= 0)
        return "";
      buffer[n] = '\0';
      if (n > 2 && buffer[0] == 'e')
        {
          buffer[strcspn (buffer, "\n")] = '\0';
          return buffer + 2;
        }
    }
}

static int context_error (int fsfd, int errnum, const char *type, const char *parameter,
                          struct error *err)
{
  char buffer[512];
  const char *log = context_log (fsfd, buffer, sizeof (buffer));
  const char *open = log[0] != '\0' ? " (" : "";
  const char *close = log[0] != '\0' ? ")" : "";
  if (parameter != NULL)
    return error_errno (err, errnum, "file system %s, parameter \"%s\"%s%s%s", type, parameter,
                        open, log, close);
  return error_errno (err, errnum, "make file system %s%s%s%s", type, open, log, close);
}

static int context_set (int fsfd, const char *type, const char *parameter, struct error *err)
{
  const char *value = strchr (parameter, '=');
  int r;
  if (value == NULL)
    r = fsconfig (fsfd, FSCONFIG_SET_FLAG, parameter, NULL, 0);
  else
    {
      cleanup_free char *key = strndup (parameter, (size_t)(value - parameter));
      if (key == NULL)
        return error_errno (err, ENOMEM, "file system %s", type);
      r = fsconfig (fsfd, FSCONFIG_SET_STRING, key, value + 1, 0);
    }
  return r < 0 ? context_error (fsfd, errno, type, parameter, err) : 0;
}

int mount_new_fs (const char *type, const char *source, char *const *parameters, size_t n,
                  uint64_t attr_set, int *ret_tree, struct error *err)
{
  cleanup_close_later int fsfd = fsopen (type, FSOPEN_CLOEXEC);
  if (fsfd < 0 && errno == ENODEV)
    return error_errno (err, ENODEV, "this kernel has no file system %s", type);
  if (fsfd < 0)
    {
      char what[64];
      snprintf (what, sizeof (what), "make file system %.32s", type);
      return mount_error (err, errno, "fsopen", what);
    }

  if (source != NULL && fsconfig (fsfd, FSCONFIG_SET_STRING, "source", source, 0) < 0)
    return context_error (fsfd, errno, type, "source", err);
  for (size_t i = 0; i < n; i++)
    {
      int r = context_set (fsfd, type, parameters[i], err);
      if (r < 0)
        return r;
    }
  if (fsconfig (fsfd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return context_error (fsfd, errno, type, NULL, err);

  int tree = fsmount (fsfd, FSMOUNT_CLOEXEC, (unsigned)attr_set);
  if (tree < 0)
    return context_error (fsfd, errno, type, NULL, err);
  *ret_tree = tree;
  return 0;
}

int mount_clone (int dirfd, const char *path, bool recursive, int *ret_tree, struct error *err)
{
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  flags |= path[0] == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
  if (recursive)
    flags |= AT_RECURSIVE;
  int tree = open_tree (dirfd, path, flags);
  if (tree < 0)
    {
      char what[256];
      snprintf (what, sizeof (what), "clone the mount of %.200s",
                path[0] == '\0' ? "an open file" : path);
      return mount_error (err, errno, "open_tree", what);
    }
  *ret_tree = tree;
  return 0;
}

/* The atime settings are not bits but numbers in one field, 0 (relatime) among them: setting one
   means clearing the field.  nodiratime is a bit of its own.  */
static bool sets_atime (uint64_t set) { return (set & MOUNT_ATTR__ATIME) != 0; }

int mount_set (int tree, bool recursive, uint64_t set, uint64_t clear, uint64_t propagation,
               const char *what, struct error *err)
{
  if (set == 0 && clear == 0 && propagation == 0)
    return 0;
  struct mount_attr attributes = {
    .attr_set = set,
    .attr_clr = clear | (sets_atime (set) ? MOUNT_ATTR__ATIME : 0),
    .propagation = propagation,
  };
  /* Clearing part of the field (atime, noatime away) is clearing it: back to relatime.  */
  if (sets_atime (attributes.attr_clr))
    attributes.attr_clr |= MOUNT_ATTR__ATIME;
  if (mount_setattr (tree, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attributes,
                     sizeof (attributes))
      < 0)
    {
      char message[320];
      snprintf (message, sizeof (message), "set mount attributes of %.256s", what);
      return mount_error (err, errno, "mount_setattr", message);
    }
  return 0;
}

int mount_attach (int tree, int target_fd, const char *what, struct error *err)
{
  if (move_mount (tree, "", target_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
    {
      char message[320];
      snprintf (message, sizeof (message), "mount on %.256s", what);
      return mount_error (err, errno, "move_mount", message);
    }
  return 0;
}

int mount_id (int fd, uint64_t *ret, struct error *err)
{
  struct statx st;
  if (statx (fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
    return error_errno (err, errno, "statx of an open file");
  if (!(st.stx_mask & STATX_MNT_ID))
    return error_set (err, -ENOSYS,
                      "this kernel tells no mount number; Linux 5.12 or newer is needed");
  *ret = st.stx_mnt_id;
  return 0;
}
