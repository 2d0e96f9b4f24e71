/* SPDX-License-Identifier: Apache-2.0 */
/* One command at a time works on a container.  The directory itself is locked: a lock file could be
   made again by one command while another one removes the directory around it.  flock(2).  */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "state/internal.h"

#define FIRST_PAUSE_MS   1
#define LONGEST_PAUSE_MS 50

static int64_t now_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* By asking again: a blocking flock can't be bounded without signals.  */
static int lock_within (int fd, bool exclusive, int timeout_ms)
{
  int64_t deadline = now_ms () + timeout_ms;
  int64_t pause = FIRST_PAUSE_MS;

  while (flock (fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0)
    {
      int64_t left = deadline - now_ms ();
      if (errno == EINTR)
        continue;
      if (errno != EWOULDBLOCK)
        return -errno;
      if (left <= 0)
        return -EBUSY;
      pause = pause > left ? left : pause;
      struct timespec t = { .tv_sec = 0, .tv_nsec = pause * 1000000 };
      nanosleep (&t, NULL);
      pause = pause * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause * 2;
    }
  return 0;
}

/* Whether ROOT/ID is still the directory that was opened: it may have been removed, and made anew,
   while we waited.  */
static bool is_current (int rootfd, const char *id, int fd)
{
  struct stat mine, named;

  return fstat (fd, &mine) == 0 && fstatat (rootfd, id, &named, AT_SYMLINK_NOFOLLOW) == 0
         && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

int state_lock (int rootfd, const char *id, int dirfd, bool exclusive, int timeout_ms, int *ret_fd,
                struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  /* A description of its own, so that closing DIRFD elsewhere changes nothing.  */
  cleanup_close int fd = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int r;

  if (fd < 0 && errno == ENOENT)
    return state_no_container (id, err);
  if (fd < 0)
    return error_errno (err, errno, "lock container %s", str_quote (id, quoted));
  r = lock_within (fd, exclusive, timeout_ms);
  if (r == -EBUSY)
    return error_set (err, r, "another command is working on container %s", str_quote (id, quoted));
  if (r < 0)
    return error_errno (err, -r, "lock container %s", str_quote (id, quoted));
  if (!is_current (rootfd, id, fd))
    return state_no_container (id, err);
  *ret_fd = steal_fd (&fd);
  return 0;
}

void state_unlock (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    flock (*fd, LOCK_UN);
  cleanup_closep (fd);
  *fd = -1;
  errno = saved;
}
