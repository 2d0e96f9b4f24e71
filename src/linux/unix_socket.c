/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent, with the caller's rights.  */
#include "linux/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"

/* A path that does not fit into an address is reached through its directory.  */
static int make_address (const char *path, const char *what, int *ret_dirfd,
                         struct sockaddr_un *ret, struct error *err)
{
  ret->sun_family = AF_UNIX;
  if (strlen (path) < sizeof (ret->sun_path))
    {
      strcpy (ret->sun_path, path);
      return 0;
    }
  const char *name = strrchr (path, '/');
  cleanup_free char *dir = name != NULL ? strndup (path, (size_t)(name - path) + 1) : NULL;
  int fd = dir != NULL ? open (dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0)
    return error_errno (err, dir != NULL ? errno : ENAMETOOLONG, "open the directory of %s", path);
  *ret_dirfd = fd;
  int n = snprintf (ret->sun_path, sizeof (ret->sun_path), "%s/%s", fd_path (fd).path, name + 1);
  if (n < 0 || (size_t)n >= sizeof (ret->sun_path))
    return error_errno (err, ENAMETOOLONG, "%s %s", what, path);
  return 0;
}

int unix_connect (const char *path, const char *what, int *ret_sock, struct error *err)
{
  struct sockaddr_un address = { 0 };
  cleanup_close int dir = -1;
  int r = make_address (path, what, &dir, &address, err);
  if (r < 0)
    return r;
  cleanup_close int sock = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sock < 0)
    return error_errno (err, errno, "make a socket");
  if (connect (sock, (const struct sockaddr *)&address, sizeof (address)) < 0)
    return error_errno (err, errno, "connect to %s %s", what, path);
  *ret_sock = steal_fd (&sock);
  return 0;
}
