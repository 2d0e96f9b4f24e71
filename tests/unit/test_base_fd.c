/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/fd.c and cleanup.c on real descriptors.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Runs BODY in a child, whose descriptors may be broken at will; gives its exit status.  */
static int in_child (int (*body) (void))
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (body ());
  assert_true (pid > 0);
  assert_int_equal (waitpid (pid, &status, 0), pid);
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128;
}

static void test_read_all (void **state)
{
  struct error err = { 0 };
  cleanup_free char *data = NULL;
  size_t len = 0;
  int pipefd[2];

  (void)state;
  assert_int_equal (pipe (pipefd), 0);
  if (fork () == 0)
    {
      char block[3000];
      memset (block, 'z', sizeof (block));
      for (int i = 0; i < 50; i++)
        if (fd_write_all (pipefd[1], block, sizeof (block), NULL) < 0)
          _exit (1);
      _exit (0);
    }
  close (pipefd[1]);
  assert_int_equal (fd_read_all (pipefd[0], 150000, "a pipe", &data, &len, &err), 0);
  assert_int_equal (len, 150000);
  assert_int_equal (strlen (data), 150000);
  close (pipefd[0]);
  wait (NULL);
}

static void test_read_all_of_nothing (void **state)
{
  cleanup_free char *data = NULL;
  size_t len = 7;
  cleanup_close int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  (void)state;
  assert_int_equal (fd_read_all (fd, 0, "nothing", &data, &len, NULL), 0);
  assert_int_equal (len, 0);
  assert_string_equal (data, "");
}

static void test_read_all_has_a_limit (void **state)
{
  struct error err = { 0 };
  char *data = NULL;
  size_t len = 7;
  cleanup_close int fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);

  (void)state;
  assert_int_equal (fd_read_all (fd, 100000, "zeros", &data, &len, &err), -EFBIG);
  assert_string_equal (err.message, "read zeros: more than 100000 bytes");
  assert_null (data);
  assert_int_equal (len, 7);
}

static void test_read_all_words_the_error (void **state)
{
  struct error err = { 0 };
  char *data = NULL;

  (void)state;
  assert_int_equal (fd_read_all (-1, 10, "config.json", &data, NULL, &err), -EBADF);
  assert_string_equal (err.message, "read config.json: EBADF");
}

static void test_write_all_words_the_error (void **state)
{
  struct error err = { 0 };
  cleanup_close int fd = open ("/dev/full", O_WRONLY | O_CLOEXEC);

  (void)state;
  assert_int_equal (fd_write_all (fd, "abc", 3, &err), -ENOSPC);
  assert_non_null (strstr (err.message, "ENOSPC"));
  assert_int_equal (fd_write_all (fd, "", 0, &err), 0);
}

static int body_missing_stdio (void)
{
  close (0);
  close (2);
  if (fd_open_missing_stdio (NULL) < 0)
    return 1;
  if (fcntl (0, F_GETFD) != 0 || fcntl (2, F_GETFD) != 0)
    return 2;
  int next = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  return next > 2 ? 0 : 3;
}

static void test_missing_stdio (void **state)
{
  (void)state;
  assert_int_equal (in_child (body_missing_stdio), 0);
}

static void test_present_stdio_is_left_alone (void **state)
{
  struct stat before, after;

  (void)state;
  assert_int_equal (fstat (1, &before), 0);
  assert_int_equal (fd_open_missing_stdio (NULL), 0);
  assert_int_equal (fstat (1, &after), 0);
  assert_true (before.st_ino == after.st_ino && before.st_dev == after.st_dev);
}

/* Receives what fd_send sends; the descriptor or -1.  */
static int receive (int sock, char *data, size_t size, ssize_t *n)
{
  char control[CMSG_SPACE (sizeof (int))] __attribute__ ((aligned (8)));
  struct iovec iov = { data, size };
  struct msghdr msg = {
    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof (control)
  };
  int fd = -1;

  *n = recvmsg (sock, &msg, MSG_CMSG_CLOEXEC);
  struct cmsghdr *cmsg = CMSG_FIRSTHDR (&msg);
  if (*n > 0 && cmsg != NULL && cmsg->cmsg_type == SCM_RIGHTS)
    memcpy (&fd, CMSG_DATA (cmsg), sizeof (fd));
  return fd;
}

static void test_send_descriptor (void **state)
{
  static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
  struct stat sent, got;

  (void)state;
  for (size_t i = 0; i < sizeof (types) / sizeof (types[0]); i++)
    {
      struct error err = { 0 };
      char data[32] = "";
      ssize_t n;
      int pair[2];

      assert_int_equal (socketpair (AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair), 0);
      cleanup_close int fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
      assert_int_equal (fd_send (pair[0], fd, "terminal", 8, &err), 0);
      cleanup_close int received = receive (pair[1], data, sizeof (data), &n);
      assert_int_equal (n, 8);
      assert_memory_equal (data, "terminal", 8);
      assert_int_equal (fstat (fd, &sent), 0);
      assert_int_equal (fstat (received, &got), 0);
      assert_true (sent.st_rdev == got.st_rdev && received != fd);
      close (pair[0]);
      close (pair[1]);
    }
}

static int body_send_to_nobody (void)
{
  struct error err = { 0 };
  int pair[2];

  signal (SIGPIPE, SIG_DFL);
  if (socketpair (AF_UNIX, SOCK_STREAM, 0, pair) < 0)
    return 1;
  close (pair[1]);
  return fd_send (pair[0], 0, "x", 1, &err) == -EPIPE ? 0 : 2;
}

static void test_send_without_reader_is_no_signal (void **state)
{
  (void)state;
  assert_int_equal (in_child (body_send_to_nobody), 0);
}

static void test_pidfd_open (void **state)
{
  (void)state;
  cleanup_close int fd = fd_pidfd_open (getpid ());
  assert_true (fd >= 0);
  assert_int_equal (fcntl (fd, F_GETFD), FD_CLOEXEC);
  assert_int_equal (fd_pidfd_open (-1), -EINVAL);
}

static int body_close_range (void)
{
  int low = fcntl (0, F_DUPFD, 20), high = fcntl (0, F_DUPFD, 500);

  if (fd_cloexec_from (21, NULL) < 0)
    return 1;
  if (fcntl (low, F_GETFD) != 0 || fcntl (high, F_GETFD) != FD_CLOEXEC)
    return 2;
  if (fd_close_from (21, NULL) < 0)
    return 3;
  return fcntl (low, F_GETFD) == 0 && fcntl (high, F_GETFD) < 0 ? 0 : 4;
}

static void test_cloexec_and_close_from (void **state)
{
  (void)state;
  assert_int_equal (in_child (body_close_range), 0);
}

static void test_cleanup_closes_and_keeps_errno (void **state)
{
  int seen;

  (void)state;
  {
    cleanup_close int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    cleanup_close int bad = 9999;
    cleanup_file FILE *file = fopen ("/dev/null", "re");
    cleanup_dir DIR *dir = opendir ("/");
    assert_non_null (file);
    assert_non_null (dir);
    (void)bad;
    seen = fd;
    errno = E2BIG;
  }
  assert_int_equal (errno, E2BIG);
  assert_int_equal (fcntl (seen, F_GETFD), -1);
}

static void test_steal_moves_ownership (void **state)
{
  int taken;
  cleanup_free char *kept = NULL;

  (void)state;
  {
    cleanup_close int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    cleanup_free char *text = strdup ("text");
    taken = steal_fd (&fd);
    kept = steal_ptr (&text);
    assert_int_equal (fd, -1);
    assert_null (text);
  }
  assert_true (fcntl (taken, F_GETFD) >= 0);
  assert_string_equal (kept, "text");
  close (taken);
}

/* Nothing but the listed ones, whatever their order and gaps.  */
static int close_many_body (void)
{
  int fds[] = { 40, 41, 42, -1, 60, 45, 44, 43, 50 };
  const int kept[] = { 39, 46, 49, 51, 59, 61 };
  size_t n = sizeof fds / sizeof *fds;
  for (size_t i = 0; i < n; i++)
    if (fds[i] >= 0 && dup2 (0, fds[i]) < 0)
      return 1;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (dup2 (0, kept[i]) < 0)
      return 1;
  int copy[sizeof fds / sizeof *fds];
  memcpy (copy, fds, sizeof fds);
  errno = 7;
  fd_close_many (fds, n);
  if (errno != 7)
    return 2;
  for (size_t i = 0; i < n; i++)
    if (fds[i] != -1 || (copy[i] >= 0 && fcntl (copy[i], F_GETFD) >= 0))
      return 3;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (fcntl (kept[i], F_GETFD) < 0)
      return 4;
  fd_close_many (fds, n);
  fd_close_many (NULL, 0);
  return 0;
}

static void test_close_many (void **state)
{
  (void)state;
  assert_int_equal (in_child (close_many_body), 0);
}

/* What doesn't come in one short read is read to its end.  */
static void test_read_knob (void **state)
{
  static const size_t sizes[] = { 0, 1, 2048, 2049, 4095, 4096, 20000 };
  struct error err = { 0 };
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    {
      cleanup_free char *data = NULL;
      cleanup_file FILE *file = tmpfile ();
      size_t len = 1;
      assert_non_null (file);
      for (size_t n = 0; n < sizes[i]; n++)
        fputc ('k', file);
      assert_int_equal (fflush (file), 0);
      assert_int_equal (lseek (fileno (file), 0, SEEK_SET), 0);
      assert_int_equal (fd_read_knob (fileno (file), 20000, "a file", &data, &len, &err), 0);
      assert_int_equal (len, sizes[i]);
      assert_int_equal (strlen (data), sizes[i]);
    }
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_read_all),
    cmocka_unit_test (test_read_all_of_nothing),
    cmocka_unit_test (test_read_all_has_a_limit),
    cmocka_unit_test (test_read_all_words_the_error),
    cmocka_unit_test (test_write_all_words_the_error),
    cmocka_unit_test (test_missing_stdio),
    cmocka_unit_test (test_present_stdio_is_left_alone),
    cmocka_unit_test (test_send_descriptor),
    cmocka_unit_test (test_send_without_reader_is_no_signal),
    cmocka_unit_test (test_pidfd_open),
    cmocka_unit_test (test_cloexec_and_close_from),
    cmocka_unit_test (test_cleanup_closes_and_keeps_errno),
    cmocka_unit_test (test_steal_moves_ownership),
    cmocka_unit_test (test_close_many),
    cmocka_unit_test (test_read_knob),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
