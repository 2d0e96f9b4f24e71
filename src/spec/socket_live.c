/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the question whether a socket file has a process behind it.  Runs in the parent and in the
   walk's child; needs write permission on the socket, as any connect does.  */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "spec/walk.h"

/* sock_diag(7) lists the sockets of one network namespace only, and by inode numbers that some file
   systems report differently.  connect(2) finds the socket that is bound to an inode wherever it
   is.  A datagram socket is what connects: a stream or seqpacket server answers EPROTOTYPE out of
   the kernel, without ever learning of it, and connecting to a datagram server sends nothing.  */
int socket_is_live (int fd)
{
  cleanup_close int sock = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  if (sock < 0)
    return -1;
  snprintf (address.sun_path, sizeof address.sun_path, "%s", fd_path (fd).path);
  if (connect (sock, (struct sockaddr *)&address, sizeof address) == 0)
    return 1;
  if (errno == ECONNREFUSED)
    return 0;
  /* EPERM: a datagram socket that is connected to somebody else.  */
  return errno == EPROTOTYPE || errno == EPERM ? 1 : -1;
}
