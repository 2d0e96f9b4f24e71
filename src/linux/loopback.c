/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the loopback interface.  Runs in init, in its own network namespace, CAP_NET_ADMIN over
   it.  */

#include "linux/loopback.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

/* The kernel gives it this number in every namespace (LOOPBACK_IFINDEX).  */
#define LO_INDEX 1
#define SEQUENCE 1

static void closep (struct mnl_socket **socket)
{
  if (*socket != NULL)
    mnl_socket_close (*socket);
}

static void build_request (char *buffer)
{
  struct nlmsghdr *header = mnl_nlmsg_put_header (buffer);
  header->nlmsg_type = RTM_NEWLINK;
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  header->nlmsg_seq = SEQUENCE;
  struct ifinfomsg *link = mnl_nlmsg_put_extra_header (header, sizeof (*link));
  link->ifi_family = AF_UNSPEC;
  link->ifi_index = LO_INDEX;
  link->ifi_flags = IFF_UP;
  link->ifi_change = IFF_UP;
}

int netlink_loopback_up (struct error *err)
{
  __attribute__ ((cleanup (closep))) struct mnl_socket *socket =
      mnl_socket_open2 (NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == NULL || mnl_socket_bind (socket, 0, MNL_SOCKET_AUTOPID) < 0)
    return error_errno (err, errno, "open a netlink socket");

  char buffer[4096] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  build_request (buffer);
  struct nlmsghdr *request = (struct nlmsghdr *)buffer;
  if (mnl_socket_sendto (socket, request, request->nlmsg_len) < 0)
    return error_errno (err, errno, "set the loopback interface up");

  ssize_t n = mnl_socket_recvfrom (socket, buffer, sizeof (buffer));
  if (n < 0
      || mnl_cb_run (buffer, (size_t)n, SEQUENCE, mnl_socket_get_portid (socket), NULL, NULL) < 0)
    return error_errno (err, errno, "set the loopback interface up");
  return 0;
}
