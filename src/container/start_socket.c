/* SPDX-License-Identifier: Apache-2.0 */
#include "container/start_socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "container/sync.h"
#include "state/state.h"

/* By descriptor, so that no state root is too long for sun_path.  In the parent /proc is the
 * host's.  */
static void socket_address (int dirfd, struct sockaddr_un *address)
{
  *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
  snprintf (address->sun_path, sizeof address->sun_path, "%s/%s", fd_path (dirfd).path,
            STATE_SOCKET);
}

int start_socket_listen (int dirfd, int *ret_fd, struct error *err)
{
  struct sockaddr_un address;
  cleanup_close int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  socket_address (dirfd, &address);
  if (fd < 0 || bind (fd, (struct sockaddr *)&address, sizeof address) < 0 || listen (fd, 1) < 0)
    return error_errno (err, errno, "make the socket %s that start uses", STATE_SOCKET);
  *ret_fd = steal_fd (&fd);
  return 0;
}

int start_go (int fd, const char *state_json, struct error *err)
{
  int r = sync_send (fd, SYNC_GO, state_json, err);
  if (r < 0)
    return r;
  /* Nothing is ever said but an error: the end of the stream is execve(2) closing init's end.  */
  struct error said = { 0 };
  r = sync_expect (fd, SYNC_READY, NULL, &said);
  if (r == -EPIPE)
    return 0;
  return error_set (err, r < 0 ? r : -EPROTO, "%s", said.message);
}

int start_socket_go (int dirfd, const char *state_json, struct error *err)
{
  struct sockaddr_un address;
  cleanup_close int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  socket_address (dirfd, &address);
  if (fd < 0 || connect (fd, (struct sockaddr *)&address, sizeof address) < 0)
    return error_errno (err, errno, "reach the container's init by %s", STATE_SOCKET);
  return start_go (fd, state_json, err);
}
