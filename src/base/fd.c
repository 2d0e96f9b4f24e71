/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors.  Runs in every process, needs no privilege.  */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

#define READ_CHUNK 4096

static ssize_t read_retry (int fd, void *data, size_t len)
{
  ssize_t n;

  do
    n = read (fd, data, len);
  while (n < 0 && errno == EINTR);
  return n;
}

/* A first read of at most COMPLETE bytes is all there is.  */
static int read_up_to (int fd, size_t max, size_t complete, const char *name, char **ret,
                       size_t *ret_len, struct error *err)
{
  cleanup_free char *data = NULL;
  size_t len = 0, size = 0;

  for (;;)
    {
      /* Always room for one byte more than was read, which later holds the NUL.  */
      if (size - len < 2)
        {
          size_t larger = size == 0 ? READ_CHUNK : size * 2;
          char *grown = larger > size ? realloc (data, larger) : NULL;
          if (grown == NULL)
            return error_errno (err, ENOMEM, "read %s", name);
          data = grown;
          size = larger;
        }

      ssize_t n = read_retry (fd, data + len, size - len - 1);
      if (n < 0)
        return error_errno (err, errno, "read %s", name);
      if (n == 0)
        break;
      len += (size_t)n;
      if (len > max)
        return error_set (err, -EFBIG, "read %s: more than %zu bytes", name, max);
      if (len <= complete)
        break;
    }

  data[len] = '\0';
  *ret = steal_ptr (&data);
  if (ret_len != NULL)
    *ret_len = len;
  return 0;
}

int fd_read_all (int fd, size_t max, const char *name, char **ret, size_t *ret_len,
                 struct error *err)
{
  return read_up_to (fd, max, 0, name, ret, ret_len, err);
}

int fd_read_knob (int fd, size_t max, const char *name, char **ret, size_t *ret_len,
                  struct error *err)
{
  return read_up_to (fd, max, READ_CHUNK / 2, name, ret, ret_len, err);
}

int fd_write_all (int fd, const void *data, size_t len, struct error *err)
{
  const char *p = data;

  while (len > 0)
    {
      ssize_t n = write (fd, p, len);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return error_errno (err, n < 0 ? errno : EIO, "write %zu bytes to descriptor %d", len, fd);
      p += n;
      len -= (size_t)n;
    }
  return 0;
}

int fd_open_missing_stdio (struct error *err)
{
  struct pollfd streams[3] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };
  int r;

  /* One question for all: POLLNVAL is a number that isn't open.  */
  do
    r = poll (streams, 3, 0);
  while (r < 0 && errno == EINTR);
  if (r < 0)
    return error_errno (err, errno, "look at the standard streams");
  for (int fd = 0; fd <= 2; fd++)
    {
      struct stat st;

      if ((streams[fd].revents & POLLNVAL) == 0)
        continue;
      /* The lowest free number is FD: all below are open by now.  */
      cleanup_close int opened = open ("/dev/null", O_RDWR | O_NOCTTY | O_NOFOLLOW);
      if (opened < 0 || fstat (opened, &st) < 0)
        return error_errno (err, errno, "open /dev/null for the closed descriptor %d", fd);
      if (opened != fd || !S_ISCHR (st.st_mode) || st.st_rdev != makedev (1, 3))
        return error_set (err, -ENODEV, "open /dev/null for the closed descriptor %d: %s", fd,
                          opened != fd ? "got another number" : "it is not the null device");
      steal_fd (&opened);
    }
  return 0;
}

int fd_send (int sock, int fd, const void *data, size_t len, struct error *err)
{
  union
  {
    char space[CMSG_SPACE (sizeof (int))];
    struct cmsghdr aligned;
  } control = { 0 };
  struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
  struct msghdr msg = {
    .msg_iov = &iov,
    .msg_iovlen = 1,
    .msg_control = control.space,
    .msg_controllen = sizeof (control.space),
  };
  struct cmsghdr *cmsg = CMSG_FIRSTHDR (&msg);
  ssize_t n;

  cmsg->cmsg_level = SOL_SOCKET;
  cmsg->cmsg_type = SCM_RIGHTS;
  cmsg->cmsg_len = CMSG_LEN (sizeof (int));
  memcpy (CMSG_DATA (cmsg), &fd, sizeof (int));

  while (iov.iov_len > 0)
    {
      /* A reader that is gone is an error to word, not a SIGPIPE.  */
      n = sendmsg (sock, &msg, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return error_errno (err, n < 0 ? errno : EIO, "send descriptor %d over a socket", fd);
      /* On a stream the descriptor went with the first byte.  */
      msg.msg_control = NULL;
      msg.msg_controllen = 0;
      iov.iov_base = (char *)iov.iov_base + n;
      iov.iov_len -= (size_t)n;
    }
  return 0;
}

int fd_pidfd_open (pid_t pid)
{
  long fd = syscall (SYS_pidfd_open, pid, 0);

  return fd < 0 ? -errno : (int)fd;
}

/* No fallback: a loop over numbers or over /proc/self/fd misses what it does not see, and what is
   missed reaches the container.  */
static int close_range_from (unsigned first, unsigned flags, const char *what, struct error *err)
{
  if (syscall (SYS_close_range, first, ~0U, flags) < 0)
    return error_errno (err, errno,
                        "%s all descriptors from %u up (close_range, Linux 5.11 or newer)", what,
                        first);
  return 0;
}

int fd_cloexec_from (unsigned first, struct error *err)
{
  return close_range_from (first, CLOSE_RANGE_CLOEXEC, "mark close-on-exec", err);
}

int fd_close_from (unsigned first, struct error *err)
{
  return close_range_from (first, 0, "close", err);
}

unsigned fd_count_open (unsigned first)
{
  unsigned n = 0;
  while (fcntl ((int)(first + n), F_GETFD) >= 0)
    n++;
  return n;
}

void fd_close_many (int *fds, size_t n)
{
  int saved = errno;

  for (size_t i = 0, run; i < n; i += run)
    {
      run = 1;
      if (fds[i] < 0)
        continue;
      while (i + run < n && fds[i + run] == fds[i] + (int)run)
        run++;
      if (run == 1)
        close (fds[i]);
      else
        syscall (SYS_close_range, fds[i], fds[i + run - 1], 0);
    }
  for (size_t i = 0; i < n; i++)
    fds[i] = -1;
  errno = saved;
}

#define BATCH 12 /* not many more than are open anyway: the limit may be low */

static struct
{
  bool begun;
  size_t len;
  int fds[BATCH];
} batch;

static int compare_numbers (const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

static void batch_close (void)
{
  qsort (batch.fds, batch.len, sizeof *batch.fds, compare_numbers);
  fd_close_many (batch.fds, batch.len);
  batch.len = 0;
}

void fd_batch_begin (void) { batch.begun = true; }

void fd_batch_end (void)
{
  batch_close ();
  batch.begun = false;
}

void cleanup_close_laterp (int *fd)
{
  if (*fd < 0)
    return;
  if (!batch.begun)
    {
      cleanup_closep (fd);
      return;
    }
  if (batch.len == BATCH)
    batch_close ();
  batch.fds[batch.len++] = *fd;
  *fd = -1;
}
