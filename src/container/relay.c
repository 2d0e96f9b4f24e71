/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the copying between two terminals.  Needs no privilege.  */
#include "container/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"

/* Of a pipe's or a terminal's queue at once: more could block a descriptor that is shared with the
   caller and so can't be made non-blocking.  */
#define CHUNK 1024

enum
{
  POLL_INPUT,
  POLL_MASTER,
  POLL_OUTPUT
};

int relay_pair (int ends[2], struct error *err)
{
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return error_errno (err, errno, "make a socket pair for the terminal");
  return 0;
}

static int caller_terminal (void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (isatty (fd))
      return fd;
  return -1;
}

bool relay_caller_size (unsigned *ret_height, unsigned *ret_width)
{
  struct winsize size;
  int fd = caller_terminal ();
  if (fd < 0 || ioctl (fd, TIOCGWINSZ, &size) < 0 || (size.ws_row == 0 && size.ws_col == 0))
    return false;
  *ret_height = size.ws_row;
  *ret_width = size.ws_col;
  return true;
}

void relay_resize (struct relay *relay)
{
  struct winsize size;
  int fd = caller_terminal ();
  if (fd >= 0 && ioctl (fd, TIOCGWINSZ, &size) == 0 && (size.ws_row != 0 || size.ws_col != 0))
    (void)ioctl (relay->master, TIOCSWINSZ, &size);
}

/* ---- beginning and end ---- */

static int receive_master (int sock, int *ret_fd, struct error *err)
{
  char name[256];
  union
  {
    struct cmsghdr header;
    char space[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { name, sizeof name };
  struct msghdr msg = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  ssize_t r;
  do
    r = recvmsg (sock, &msg, MSG_CMSG_CLOEXEC);
  while (r < 0 && errno == EINTR);
  if (r < 0)
    return error_errno (err, errno, "take the container's terminal");
  struct cmsghdr *c = CMSG_FIRSTHDR (&msg);
  if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS
      || c->cmsg_len != CMSG_LEN (sizeof (int)))
    return error_set (err, -EPROTO, "the container sent no terminal");
  memcpy (ret_fd, CMSG_DATA (c), sizeof (int));
  return 0;
}

/* The same object by an open file description of our own, which may be non-blocking without the
   caller's shell being so afterwards.  Not for a regular file, whose position is the caller's.  */
static int own_description (int fd, int flags)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return -1; /* closed by the caller */
  if (!S_ISFIFO (st.st_mode) && !isatty (fd))
    return fd;
  int own = open (fd_path (fd).path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return own >= 0 ? own : fd;
}

static void make_raw (struct relay *relay)
{
  struct termios raw;
  if (tcgetattr (STDIN_FILENO, &relay->saved) < 0)
    return; /* not a terminal */
  raw = relay->saved;
  cfmakeraw (&raw);
  relay->raw = tcsetattr (STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

int relay_start (int sock, struct relay *ret, struct error *err)
{
  int master;
  int r = receive_master (sock, &master, err);
  if (r < 0)
    return r;
  if (fcntl (master, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
    {
      r = error_errno (err, errno, "set up the container's terminal");
      close (master);
      return r;
    }
  memset (ret, 0, sizeof *ret);
  ret->master = master;
  ret->input.from = own_description (STDIN_FILENO, O_RDONLY);
  ret->input.to = ret->output.from = master;
  ret->output.to = own_description (STDOUT_FILENO, O_WRONLY);
  relay_resize (ret);
  make_raw (ret);
  return 0;
}

static void close_own (int fd)
{
  if (fd > STDERR_FILENO)
    close (fd);
}

void relay_end (struct relay *relay)
{
  if (relay->raw)
    (void)tcsetattr (STDIN_FILENO, TCSADRAIN, &relay->saved);
  relay->raw = false;
  relay_stop_input (relay);
  close_own (relay->output.to);
  close_own (relay->master);
  relay->output.to = relay->output.from = relay->master = -1;
}

/* ---- copying ---- */

static bool is_empty (const struct relay_stream *s) { return s->begin == s->end; }

void relay_stop_input (struct relay *relay)
{
  close_own (relay->input.from);
  relay->input.from = relay->input.to = -1;
  relay->input.begin = relay->input.end = 0;
}

bool relay_has_output (const struct relay *relay) { return !is_empty (&relay->output); }

bool relay_is_over (const struct relay *relay)
{
  return relay->output.from < 0 && is_empty (&relay->output);
}

void relay_prepare (const struct relay *relay, struct pollfd fds[RELAY_POLL])
{
  const struct relay_stream *in = &relay->input, *out = &relay->output;
  short master = 0;
  if (out->from >= 0 && is_empty (out))
    master |= POLLIN;
  if (in->to >= 0 && !is_empty (in))
    master |= POLLOUT;
  /* Where nothing is wanted the descriptor is left out: a hang-up is reported unasked.  */
  fds[POLL_INPUT] = (struct pollfd){ is_empty (in) ? in->from : -1, POLLIN, 0 };
  fds[POLL_MASTER] = (struct pollfd){ master != 0 ? relay->master : -1, master, 0 };
  fds[POLL_OUTPUT] = (struct pollfd){ is_empty (out) ? -1 : out->to, POLLOUT, 0 };
}

/* false: nothing more will come.  EIO is the end of a terminal whose slaves are all closed.  */
static bool fill (struct relay_stream *s)
{
  ssize_t n = read (s->from, s->data, sizeof s->data);
  s->begin = 0;
  s->end = n > 0 ? (size_t)n : 0;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* false: nobody is there to read.  */
static bool empty (struct relay_stream *s)
{
  size_t n = s->end - s->begin;
  ssize_t written = write (s->to, s->data + s->begin, n < CHUNK ? n : CHUNK);
  if (written > 0)
    s->begin += (size_t)written;
  return written >= 0 || errno == EAGAIN || errno == EINTR;
}

/* What a terminal's user types at the end: without it a program that reads to the end of its input
   would wait for ever.  Twice, since behind an unfinished line the first only hands that on.  */
static void end_input (struct relay *relay)
{
  struct termios modes;
  struct relay_stream *in = &relay->input;
  close_own (in->from);
  in->from = -1;
  if (tcgetattr (relay->master, &modes) < 0 || (modes.c_lflag & ICANON) == 0)
    return;
  in->data[0] = in->data[1] = (char)modes.c_cc[VEOF];
  in->begin = 0;
  in->end = 2;
}

void relay_transfer (struct relay *relay, const struct pollfd fds[RELAY_POLL])
{
  struct relay_stream *in = &relay->input, *out = &relay->output;
  if (fds[POLL_INPUT].revents != 0 && !fill (in))
    end_input (relay);
  if ((fds[POLL_MASTER].revents & POLLOUT) != 0 && !empty (in))
    relay_stop_input (relay);
  if ((fds[POLL_MASTER].events & POLLIN) != 0
      && (fds[POLL_MASTER].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !fill (out))
    out->from = -1;
  if (fds[POLL_OUTPUT].revents != 0 && !empty (out))
    {
      close_own (out->to);
      out->to = -1;
    }
  if (out->to < 0)
    out->begin =
        out->end; /* the reader is gone: what the program prints is lost, it is not held up */
}
