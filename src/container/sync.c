/* SPDX-License-Identifier: Apache-2.0 */
#include "container/sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/str.h"

static const char *const message_names[] = {
  [SYNC_GO] = "go",         [SYNC_ENTERED] = "entered", [SYNC_PREPARED] = "prepared",
  [SYNC_HOOKED] = "hooked", [SYNC_READY] = "ready",     [SYNC_ERROR] = "error",
};

/* What stands before the text of a packet.  */
struct sync_header
{
  int message;
  int code; /* of SYNC_ERROR: the negative errno */
};

int sync_pair (int ends[2], struct error *err)
{
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return error_errno (err, errno, "make a socket pair for a process of the container");
  /* A state with many annotations is one packet: it has to fit.  */
  int size = 2 * SYNC_TEXT_MAX;
  setsockopt (ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return 0;
}

static int send_packet (int fd, const struct sync_header *header, const char *text)
{
  struct iovec parts[2] = { { (void *)header, sizeof *header },
                            { (void *)text, text ? strlen (text) : 0 } };
  struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
  ssize_t r;
  do
    r = sendmsg (fd, &msg, MSG_NOSIGNAL);
  while (r < 0 && errno == EINTR);
  return r < 0 ? -errno : 0;
}

int sync_send (int fd, enum sync_message message, const char *text, struct error *err)
{
  struct sync_header header = { message, 0 };
  int r = send_packet (fd, &header, text);
  if (r < 0)
    return error_errno (err, -r, "send \"%s\" to the other process", message_names[message]);
  return 0;
}

void sync_send_error (int fd, const struct error *error)
{
  struct sync_header header = { SYNC_ERROR, error->code };
  (void)send_packet (fd, &header, error->message);
}

/* One packet, the text allocated and terminated.  0 at the end of the stream.  */
static ssize_t receive_packet (int fd, struct sync_header *header, char **ret_text)
{
  cleanup_free char *text = malloc (SYNC_TEXT_MAX + 1);
  if (text == NULL)
    return -ENOMEM;
  struct iovec parts[2] = { { header, sizeof *header }, { text, SYNC_TEXT_MAX } };
  struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
  ssize_t r;
  do
    r = recvmsg (fd, &msg, 0);
  while (r < 0 && errno == EINTR);
  if (r < 0)
    return -errno;
  if (r == 0)
    return 0;
  if ((size_t)r < sizeof *header || (msg.msg_flags & MSG_TRUNC) != 0)
    return -EPROTO;
  text[(size_t)r - sizeof *header] = '\0';
  *ret_text = steal_ptr (&text);
  return r;
}

int sync_expect (int fd, enum sync_message message, char **ret_text, struct error *err)
{
  struct sync_header header = { 0 };
  cleanup_free char *text = NULL;
  ssize_t r = receive_packet (fd, &header, &text);
  if (r < 0)
    return error_errno (err, (int)-r, "wait for \"%s\" from the other process",
                        message_names[message]);
  if (r == 0)
    return error_set (err, -EPIPE, "the other process ended before it said \"%s\"",
                      message_names[message]);
  if (header.message == SYNC_ERROR)
    return error_set (err, header.code < 0 ? header.code : -EPROTO, "%s", text);
  if (header.message != (int)message)
    return error_set (err, -EPROTO, "expected \"%s\" from the other process, got %d",
                      message_names[message], header.message);
  if (ret_text != NULL)
    *ret_text = steal_ptr (&text);
  return 0;
}
