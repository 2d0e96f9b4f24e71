/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/log.c: what a reader of each destination gets.  The journal and syslog cases put sockets
   into a mount namespace of their own, and are skipped without CAP_SYS_ADMIN.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{9}Z"

static char dir[256];

static int setup (void **state)
{
  const char *tmp = getenv ("TMPDIR");

  (void)state;
  snprintf (dir, sizeof (dir), "%s/agentrun-test-log-XXXXXX", tmp != NULL ? tmp : "/tmp");
  return mkdtemp (dir) != NULL ? 0 : -1;
}

static int teardown (void **state)
{
  char command[300];

  (void)state;
  log_close ();
  snprintf (command, sizeof (command), "rm -rf '%s'", dir);
  return system (command);
}

static const char *in_dir (const char *name)
{
  static char path[300];

  snprintf (path, sizeof (path), "%s/%s", dir, name);
  return path;
}

static void assert_matches (const char *text, const char *pattern)
{
  regex_t regex;

  assert_int_equal (regcomp (&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
  int r = regexec (&regex, text, 0, NULL, 0);
  regfree (&regex);
  if (r != 0)
    fail_msg ("\"%s\" does not match %s", text, pattern);
}

static char *content (const char *path)
{
  char *text = NULL;
  cleanup_close int fd = open (path, O_RDONLY | O_CLOEXEC);

  assert_int_equal (fd_read_all (fd, 1 << 20, path, &text, NULL, NULL), 0);
  return text;
}

static void test_levels (void **state)
{
  enum log_level level = LOG_LEVEL_INFO;

  (void)state;
  assert_int_equal (log_level_parse ("warning", &level), 0);
  assert_int_equal (level, LOG_LEVEL_WARNING);
  assert_int_equal (log_level_parse ("debug", &level), 0);
  assert_int_equal (level, LOG_LEVEL_DEBUG);
  assert_int_equal (log_level_parse ("Error", &level), -EINVAL);
  assert_int_equal (log_level_parse ("", &level), -EINVAL);
  assert_int_equal (level, LOG_LEVEL_DEBUG);
}

static void test_json_lines (void **state)
{
  struct error err = { 0 };
  struct stat st;

  (void)state;
  assert_int_equal (log_open (in_dir ("log.json"), "json", LOG_LEVEL_WARNING, &err), 0);
  log_write (LOG_LEVEL_WARNING, "a \"quoted\"\n%s", "\x01/\xff");
  log_write (LOG_LEVEL_INFO, "not asked for");
  log_write (LOG_LEVEL_ERROR, "last");
  log_close ();

  cleanup_free char *text = content (in_dir ("log.json"));
  assert_matches (text, "^\\{\"level\":\"warning\",\"msg\":\"a \\\\\"quoted\\\\\"\\\\n\\\\u0001/"
                        "\xef\xbf\xbd\",\"time\":\"" TIME "\"\\}\n"
                        "\\{\"level\":\"error\",\"msg\":\"last\",\"time\":\"" TIME "\"\\}\n$");
  assert_int_equal (stat (in_dir ("log.json"), &st), 0);
  assert_int_equal (st.st_mode & 07777, 0600);
}

static void test_text_is_one_line_and_appends (void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++)
    {
      char dest[320];
      snprintf (dest, sizeof (dest), "file:%s", in_dir ("log.txt"));
      assert_int_equal (log_open (dest, NULL, LOG_LEVEL_ERROR, NULL), 0);
      log_write (LOG_LEVEL_ERROR, "one\ntwo\x1b[0m");
    }
  log_close ();
  cleanup_free char *text = content (in_dir ("log.txt"));
  assert_matches (text,
                  "^" TIME " error: one two\\\\x1b\\[0m\n" TIME " error: one two\\\\x1b\\[0m\n$");
}

static void test_long_message_is_cut_and_marked (void **state)
{
  char message[20000];

  (void)state;
  memset (message, 'm', sizeof (message) - 1);
  message[sizeof (message) - 1] = '\0';
  assert_int_equal (log_open (in_dir ("long"), "text", LOG_LEVEL_ERROR, NULL), 0);
  log_write (LOG_LEVEL_ERROR, "%s", message);
  log_close ();
  cleanup_free char *text = content (in_dir ("long"));
  assert_matches (text, "error: m+\\.\\.\\.\n$");
}

static void test_errno_survives (void **state)
{
  (void)state;
  assert_int_equal (log_open (in_dir ("errno"), "text", LOG_LEVEL_ERROR, NULL), 0);
  errno = EXDEV;
  log_write (LOG_LEVEL_ERROR, "x");
  assert_int_equal (errno, EXDEV);
}

static void test_links_and_lonely_fifos_are_refused (void **state)
{
  struct error err = { 0 };

  (void)state;
  assert_int_equal (symlink ("/etc/passwd", in_dir ("link")), 0);
  assert_int_equal (log_open (in_dir ("link"), NULL, LOG_LEVEL_ERROR, &err), -ELOOP);
  assert_non_null (strstr (err.message, "/link: ELOOP"));
  assert_int_equal (mkfifo (in_dir ("fifo"), 0600), 0);
  assert_int_equal (log_open (in_dir ("fifo"), NULL, LOG_LEVEL_ERROR, &err), -ENXIO);
}

static void test_bad_destinations (void **state)
{
  struct error err = { 0 };

  (void)state;
  assert_int_equal (log_open (NULL, "yaml", LOG_LEVEL_ERROR, &err), -EINVAL);
  assert_string_equal (err.message, "unknown log format yaml: expected text or json");
  assert_int_equal (log_open ("journald:", NULL, LOG_LEVEL_ERROR, &err), -EINVAL);
  assert_int_equal (log_open ("journald:a\nPRIORITY=0", NULL, LOG_LEVEL_ERROR, &err), -EINVAL);
  assert_int_equal (log_open ("syslog:", NULL, LOG_LEVEL_ERROR, &err), -EINVAL);
  assert_int_equal (log_open ("", NULL, LOG_LEVEL_ERROR, &err), -ENOENT);
}

/* What a child that runs BODY writes to stderr.  */
static char *stderr_of (void (*body) (void))
{
  char *text = NULL;
  int pipefd[2];

  assert_int_equal (pipe2 (pipefd, O_CLOEXEC), 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      dup2 (pipefd[1], 2);
      body ();
      _exit (0);
    }
  close (pipefd[1]);
  assert_int_equal (fd_read_all (pipefd[0], 1 << 20, "stderr", &text, NULL, NULL), 0);
  close (pipefd[0]);
  assert_int_equal (waitpid (pid, NULL, 0), pid);
  return text;
}

static void body_never_opened (void)
{
  log_write (LOG_LEVEL_WARNING, "hidden");
  log_write (LOG_LEVEL_ERROR, "early");
}

static void body_full_disk (void)
{
  if (log_open ("/dev/full", NULL, LOG_LEVEL_WARNING, NULL) < 0)
    _exit (1);
  log_write (LOG_LEVEL_WARNING, "hidden");
  log_write (LOG_LEVEL_ERROR, "kept");
}

static void test_stderr (void **state)
{
  (void)state;
  cleanup_free char *text = stderr_of (body_never_opened);
  assert_string_equal (text, "test_base_log: error: early\n");
}

static void test_error_that_cannot_be_written_goes_to_stderr (void **state)
{
  (void)state;
  cleanup_free char *text = stderr_of (body_full_disk);
  assert_matches (text, "error: kept\n$");
  assert_null (strstr (text, "hidden"));
}

/* A datagram socket at PATH, in this mount namespace.  */
static int listen_at (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  strcpy (address.sun_path, path);
  return bind (fd, (struct sockaddr *)&address, sizeof (address)) == 0 ? fd : -1;
}

/* Hides /run and /dev behind empty ones in a namespace of our own; the host's stay as they are.  */
static bool private_world (void)
{
  return unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("tmpfs", "/run", "tmpfs", 0, NULL) == 0
         && mount ("tmpfs", "/dev", "tmpfs", 0, NULL) == 0;
}

/* 0 when the datagram that OPEN and log_write send to PATH is WANTED up to LEN bytes.  */
static int datagram_check (const char *dest, const char *path, const char *wanted, size_t len)
{
  char got[1024] = "";
  int sock = listen_at (path);

  if (sock < 0)
    return 10;
  if (log_open (dest, "json", LOG_LEVEL_INFO, NULL) < 0)
    return 11;
  log_write (LOG_LEVEL_INFO, "one\ntwo");
  ssize_t n = recv (sock, got, sizeof (got), MSG_DONTWAIT);
  return n >= (ssize_t)len && memcmp (got, wanted, len) == 0 ? 0 : 12;
}

static int body_journal (void)
{
  static const char entry[] =
      "PRIORITY=6\nSYSLOG_IDENTIFIER=box\nMESSAGE\n\7\0\0\0\0\0\0\0one\ntwo\n";

  if (!private_world ())
    return 77;
  if (log_open ("journald:box", NULL, LOG_LEVEL_INFO, NULL) != -ENOENT)
    return 13;
  if (mkdir ("/run/systemd", 0755) < 0 || mkdir ("/run/systemd/journal", 0755) < 0)
    return 14;
  return datagram_check ("journald:box", "/run/systemd/journal/socket", entry, sizeof (entry) - 1);
}

static int body_syslog (void)
{
  /* daemon is facility 3, info priority 6; the time is in between.  */
  return private_world () ? datagram_check ("syslog:box", "/dev/log", "<30>", 4) : 77;
}

static void run_isolated (int (*body) (void))
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (body ());
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_true (WIFEXITED (status));
  if (WEXITSTATUS (status) == 77)
    skip ();
  assert_int_equal (WEXITSTATUS (status), 0);
}

static void test_journal_entry (void **state)
{
  (void)state;
  run_isolated (body_journal);
}

static void test_syslog_entry (void **state)
{
  (void)state;
  run_isolated (body_syslog);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_levels, setup, teardown),
    cmocka_unit_test_setup_teardown (test_json_lines, setup, teardown),
    cmocka_unit_test_setup_teardown (test_text_is_one_line_and_appends, setup, teardown),
    cmocka_unit_test_setup_teardown (test_long_message_is_cut_and_marked, setup, teardown),
    cmocka_unit_test_setup_teardown (test_errno_survives, setup, teardown),
    cmocka_unit_test_setup_teardown (test_links_and_lonely_fifos_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown (test_bad_destinations, setup, teardown),
    cmocka_unit_test_setup_teardown (test_stderr, setup, teardown),
    cmocka_unit_test_setup_teardown (test_error_that_cannot_be_written_goes_to_stderr, setup,
                                     teardown),
    cmocka_unit_test_setup_teardown (test_journal_entry, setup, teardown),
    cmocka_unit_test_setup_teardown (test_syslog_entry, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
