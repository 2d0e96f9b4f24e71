/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of one container: made, opened, removed.  Runs in the parent; needs to own the
   state root.  */
#include "state/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "state/internal.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Everything that agentrun puts into the directory, in the order of removal: what makes a container
   findable goes last.  */
static const char *const known_files[] = { STATE_SOCKET, STATE_TEMPORARY, STATE_FILE };

/* The caller has validated the id; here only what would leave the directory or hide in it.  */
static int check_id (const char *id, struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  if (id == NULL || id[0] == '\0' || id[0] == '.' || strchr (id, '/') != NULL
      || strlen (id) > NAME_MAX)
    return error_set (err, -EINVAL, "container ID %s is not usable as a directory name",
                      str_quote (id, quoted));
  return 0;
}

int state_no_container (const char *id, struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  return error_set (err, -ENOENT, "container \"%s\" does not exist", str_quote (id, quoted));
}

int state_dir_create (int rootfd, const char *id, int *ret_dirfd, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int r = check_id (id, err);

  if (r < 0)
    return r;
  str_quote (id, quoted);
  if (mkdirat (rootfd, id, 0700) < 0)
    {
      if (errno == EEXIST)
        return error_set (err, -EEXIST, "container ID %s exists already", quoted);
      return error_errno (err, errno, "make the state directory of container %s", quoted);
    }
  cleanup_close int fd = openat (rootfd, id, DIRECTORY);
  /* The umask may have taken the owner's own bits.  */
  if (fd < 0 || fchmod (fd, 0700) < 0)
    {
      r = error_errno (err, errno, "open the state directory of container %s", quoted);
      unlinkat (rootfd, id, AT_REMOVEDIR);
      return r;
    }
  *ret_dirfd = steal_fd (&fd);
  return 0;
}

int state_dir_open (int rootfd, const char *id, int *ret_dirfd, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int r = check_id (id, err);

  if (r < 0)
    return r;
  cleanup_close int fd = openat (rootfd, id, DIRECTORY);
  if (fd < 0 && errno == ENOENT)
    return state_no_container (id, err);
  if (fd < 0)
    return error_errno (err, errno, "open the state directory of container %s",
                        str_quote (id, quoted));
  *ret_dirfd = steal_fd (&fd);
  return 0;
}

/* Names one entry for the message; anybody's guess is worse than the name.  */
static int report_unknown_file (int dirfd, const char *id, struct error *err)
{
  char quoted_id[STR_QUOTE_MAX], quoted[STR_QUOTE_MAX];
  cleanup_close int fd = openat (dirfd, ".", DIRECTORY);
  cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir (fd);
  struct dirent *entry = NULL;

  if (dir != NULL)
    {
      steal_fd (&fd);
      do
        entry = readdir (dir);
      while (entry != NULL && entry->d_name[0] == '.');
    }
  return error_set (err, -ENOTEMPTY,
                    "remove the state directory of container %s: it holds %s, which agentrun "
                    "didn't put there",
                    str_quote (id, quoted_id),
                    entry == NULL ? "a file" : str_quote (entry->d_name, quoted));
}

int state_dir_remove (int rootfd, const char *id, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  int r = check_id (id, err);

  if (r < 0)
    return r;
  str_quote (id, quoted);
  cleanup_close int fd = openat (rootfd, id, DIRECTORY);
  if (fd < 0)
    return errno == ENOENT
               ? 0
               : error_errno (err, errno, "open the state directory of container %s", quoted);
  for (size_t i = 0; i < ARRAY_SIZE (known_files); i++)
    if (unlinkat (fd, known_files[i], 0) < 0 && errno != ENOENT)
      return error_errno (err, errno, "remove %s of container %s", known_files[i], quoted);
  if (unlinkat (rootfd, id, AT_REMOVEDIR) == 0 || errno == ENOENT)
    return 0;
  if (errno == ENOTEMPTY || errno == EEXIST)
    return report_unknown_file (fd, id, err);
  return error_errno (err, errno, "remove the state directory of container %s", quoted);
}

void state_half_made_cleanup (struct state_half_made *half)
{
  int saved = errno;

  if (half->id != NULL)
    state_dir_remove (half->rootfd, half->id, NULL);
  half->id = NULL;
  errno = saved;
}
