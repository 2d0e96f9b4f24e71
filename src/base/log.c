/* SPDX-License-Identifier: Apache-2.0 */
/* The log.  Runs in the parent (init reports over its socket instead: after pivot_root the names
   below would be the image's).  Needs no privilege.  */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/utc.h"

#define LOG_FILE_MODE  0600
#define MESSAGE_MAX    (2 * ERROR_MESSAGE_MAX)
#define IDENT_MAX      128
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
/* How long a full pipe may hold up a message.  */
#define WRITE_TIMEOUT_MS 1000

static void write_stderr (enum log_level level, const char *message);
static void write_file (enum log_level level, const char *message);
static void write_journal (enum log_level level, const char *message);
static void write_syslog (enum log_level level, const char *message);

static struct
{
  void (*write) (enum log_level level, const char *message);
  enum log_level level;
  int fd;
  bool json;
  bool syslog;
  char ident[IDENT_MAX];
} state = { .write = write_stderr, .level = LOG_LEVEL_ERROR, .fd = -1 };

static const struct
{
  const char *name;
  int priority; /* syslog(3); journald uses the same numbers */
} levels[] = {
  [LOG_LEVEL_ERROR] = { "error", LOG_ERR },
  [LOG_LEVEL_WARNING] = { "warning", LOG_WARNING },
  [LOG_LEVEL_INFO] = { "info", LOG_INFO },
  [LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

int log_level_parse (const char *name, enum log_level *ret)
{
  for (size_t i = 0; i < ARRAY_SIZE (levels); i++)
    if (str_equal (name, levels[i].name))
      {
        *ret = (enum log_level)i;
        return 0;
      }
  return -EINVAL;
}

static int open_file (const char *path, struct error *err)
{
  char quoted[STR_QUOTE_MAX];

  /* Engines name a path in a directory of their own; a link or a fifo there is not theirs.  */
  int fd =
      open (path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
            LOG_FILE_MODE);
  if (fd < 0)
    return error_errno (err, errno, "open the log %s", str_quote (path, quoted));
  state.fd = fd;
  state.write = write_file;
  return 0;
}

static int set_ident (const char *ident, struct error *err)
{
  if (ident[0] == '\0')
    return error_set (err, -EINVAL, "the log destination names no identifier");
  if (strlen (ident) >= sizeof (state.ident))
    return error_set (err, -EINVAL, "the identifier of the log is longer than %zu bytes",
                      sizeof (state.ident) - 1);
  /* A line break would begin a journal field of the caller's choice.  */
  for (const char *p = ident; *p != '\0'; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f)
      return error_set (err, -EINVAL, "the identifier of the log has a control character");
  strcpy (state.ident, ident);
  return 0;
}

/* The journal's own datagram protocol: one datagram of NAME=VALUE lines is one entry.  */
static int open_journal (const char *ident, struct error *err)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };

  int r = set_ident (ident, err);
  if (r < 0)
    return r;
  cleanup_close int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect (fd, (struct sockaddr *)&address, sizeof (address)) < 0)
    return error_errno (err, errno, "connect to the journal at " JOURNAL_SOCKET);
  state.fd = steal_fd (&fd);
  state.write = write_journal;
  return 0;
}

static int open_syslog (const char *ident, struct error *err)
{
  int r = set_ident (ident, err);
  if (r < 0)
    return r;
  /* LOG_NDELAY: connected now, while /dev/log is the host's.  */
  openlog (state.ident, LOG_PID | LOG_NDELAY, LOG_DAEMON);
  state.syslog = true;
  state.write = write_syslog;
  return 0;
}

static const struct
{
  const char *prefix;
  int (*open) (const char *rest, struct error *err);
} destinations[] = {
  { "file:", open_file },
  { "journald:", open_journal },
  { "syslog:", open_syslog },
  { "", open_file },
};

int log_open (const char *dest, const char *format, enum log_level level, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  bool json = str_equal (format, "json");

  if (!json && format != NULL && !str_equal (format, "text"))
    return error_set (err, -EINVAL, "unknown log format %s: expected text or json",
                      str_quote (format, quoted));
  log_close ();
  state.json = json;
  state.level = level;
  if (dest == NULL)
    return 0;
  for (size_t i = 0; i < ARRAY_SIZE (destinations); i++)
    if (str_has_prefix (dest, destinations[i].prefix))
      return destinations[i].open (dest + strlen (destinations[i].prefix), err);
  return 0;
}

void log_close (void)
{
  cleanup_closep (&state.fd);
  if (state.syslog)
    closelog ();
  state.syslog = false;
  state.json = false;
  state.write = write_stderr;
}

/* RFC 3339 in UTC, nanoseconds included: lines of several processes sort as text.  */
static void add_time (struct strbuf *line)
{
  struct timespec now;
  char text[UTC_TIME_SIZE];

  clock_gettime (CLOCK_REALTIME, &now);
  strbuf_printf (line, "%s", utc_time (&now, text));
}

/* One line whatever the message holds: a second one would be a message that nobody wrote.  */
static void add_text (struct strbuf *line, const char *message)
{
  for (const char *p = message; *p != '\0'; p++)
    {
      if (*p == '\n')
        strbuf_add (line, " ");
      else if ((unsigned char)*p < 0x20 || *p == 0x7f)
        strbuf_printf (line, "\\x%02x", (unsigned char)*p);
      else
        strbuf_add_n (line, p, 1);
    }
}

static void format_line (struct strbuf *line, enum log_level level, const char *message)
{
  if (state.json)
    {
      strbuf_printf (line, "{\"level\":\"%s\",\"msg\":", levels[level].name);
      strbuf_json_string (line, message);
      strbuf_add (line, ",\"time\":\"");
      add_time (line);
      strbuf_add (line, "\"}\n");
      return;
    }
  /* Who reads stderr knows the time, but maybe not the program.  */
  if (state.fd < 0)
    strbuf_printf (line, "%s: %s: ", program_invocation_short_name, levels[level].name);
  else
    {
      add_time (line);
      strbuf_printf (line, " %s: ", levels[level].name);
    }
  add_text (line, message);
  strbuf_add (line, "\n");
}

/* The whole line in one write(2), so that lines of several processes don't mix; goes on after a
   short write, and gives a full pipe one chance.  Returns whether all of it was taken.  */
static bool write_line (int fd, const char *line, size_t len)
{
  bool waited = false;

  while (len > 0)
    {
      ssize_t n = write (fd, line, len);
      if (n > 0)
        {
          line += n;
          len -= (size_t)n;
        }
      else if (n < 0 && errno == EAGAIN && !waited)
        {
          struct pollfd pollfd = { .fd = fd, .events = POLLOUT };
          waited = true;
          if (poll (&pollfd, 1, WRITE_TIMEOUT_MS) <= 0)
            return false;
        }
      else if (n == 0 || errno != EINTR)
        return false;
    }
  return true;
}

static bool write_message (int fd, enum log_level level, const char *message)
{
  cleanup_strbuf struct strbuf line = { 0 };

  format_line (&line, level, message);
  if (line.failed)
    return write_line (fd, message, strlen (message)) && write_line (fd, "\n", 1);
  return write_line (fd, line.data, line.len);
}

static void write_stderr (enum log_level level, const char *message)
{
  /* Nothing is left to tell a failure to.  */
  (void)write_message (STDERR_FILENO, level, message);
}

static void write_file (enum log_level level, const char *message)
{
  if (!write_message (state.fd, level, message) && level == LOG_LEVEL_ERROR)
    write_stderr (level, message);
}

/* A value with a line break is sent by length: NAME, line break, 64-bit little-endian length, the
   bytes, line break.  All are sent so: one form is enough.  */
static void write_journal (enum log_level level, const char *message)
{
  cleanup_strbuf struct strbuf entry = { 0 };
  uint64_t len = htole64 ((uint64_t)strlen (message));

  strbuf_printf (&entry, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nMESSAGE\n", levels[level].priority,
                 state.ident);
  strbuf_add_n (&entry, (const char *)&len, sizeof (len));
  strbuf_add (&entry, message);
  strbuf_add (&entry, "\n");
  if ((entry.failed || send (state.fd, entry.data, entry.len, MSG_NOSIGNAL) < 0)
      && level == LOG_LEVEL_ERROR)
    write_stderr (level, message);
}

static void write_syslog (enum log_level level, const char *message)
{
  syslog (levels[level].priority, "%s", message);
}

void log_write (enum log_level level, const char *format, ...)
{
  char message[MESSAGE_MAX];
  int saved = errno;
  va_list args;

  if (level > state.level)
    return;
  va_start (args, format);
  int len = vsnprintf (message, sizeof (message), format, args);
  va_end (args);
  if (len < 0)
    return;
  if ((size_t)len >= sizeof (message))
    memcpy (message + sizeof (message) - 4, "...", 4);
  state.write (level, message);
  errno = saved;
}
