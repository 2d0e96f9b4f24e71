/* SPDX-License-Identifier: Apache-2.0 */
/* Which containers there are.  Runs in `list`; needs to read the state root.  */
#include "state/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "state/internal.h"

struct ids
{
  char **list;
  size_t len;
  size_t size;
};

static int add_id (struct ids *ids, struct arena *arena, const char *id)
{
  if (ids->len == ids->size)
    {
      size_t size = ids->size == 0 ? 32 : ids->size * 2;
      char **list =
          arena_grow (arena, ids->list, ids->size * sizeof (*list), size * sizeof (*list));
      if (list == NULL)
        return -ENOMEM;
      ids->list = list;
      ids->size = size;
    }
  ids->list[ids->len] = arena_strdup (arena, id);
  return ids->list[ids->len++] == NULL ? -ENOMEM : 0;
}

/* Some file systems don't tell the type with the name.  */
static bool is_directory (int rootfd, const struct dirent *entry)
{
  struct stat st;

  if (entry->d_type != DT_UNKNOWN)
    return entry->d_type == DT_DIR;
  return fstatat (rootfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (st.st_mode);
}

static int compare (const void *a, const void *b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

int state_list (int rootfd, struct arena *arena, char ***ret_ids, size_t *ret_len,
                struct error *err)
{
  cleanup_close int fd = openat (rootfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir (fd);
  struct ids ids = { 0 };
  struct dirent *entry;

  if (dir == NULL)
    return error_errno (err, errno, "list the containers");
  steal_fd (&fd);
  while (errno = 0, (entry = readdir (dir)) != NULL)
    {
      if (entry->d_name[0] == '.' || !is_directory (rootfd, entry))
        continue;
      if (add_id (&ids, arena, entry->d_name) < 0)
        return error_errno (err, ENOMEM, "list the containers");
    }
  if (errno != 0)
    return error_errno (err, errno, "list the containers");
  if (ids.len > 0)
    qsort (ids.list, ids.len, sizeof (*ids.list), compare);
  *ret_ids = ids.list;
  *ret_len = ids.len;
  return 0;
}
