/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the loopback interface.  Runs in init, in its own network namespace, CAP_NET_ADMIN over
   it.  */

#include "linux/loopback.h"

#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

/* netdevice(7).  Any socket will do; a local one needs no protocol of the network.  */
int loopback_up (struct error *err)
{
  struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
  cleanup_close int sock = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sock < 0 || ioctl (sock, SIOCSIFFLAGS, &lo) < 0)
    return error_errno (err, errno, "set the loopback interface up");
  return 0;
}
