/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent.  rtnetlink(7) over libmnl.  */
#include "linux/netdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "linux/libmnl.h"

#ifdef LIBMNL_PATH

/* Set by netdev_move.  */
static const struct libmnl *mnl;

#  define SEQUENCE      1
#  define BUFFER_SIZE   32768
#  define ADDRESSES_MAX 64
#  define ADDRESS_SIZE  16

/* One address as it comes and goes: the parts that say which it is.  */
struct address
{
  unsigned char family, prefix, scope;
  struct
  {
    uint16_t type, len;
    unsigned char bytes[ADDRESS_SIZE];
  } parts[3]; /* IFA_LOCAL, IFA_ADDRESS, IFA_BROADCAST */
  size_t n;
};

struct addresses
{
  unsigned index;
  struct address items[ADDRESSES_MAX];
  size_t n;
  bool too_many;
};

static void closep (struct mnl_socket **socket)
{
  if (*socket != NULL)
    mnl->socket_close (*socket);
}
#  define cleanup_socket __attribute__ ((cleanup (closep)))

static int open_socket (struct mnl_socket **ret, struct error *err)
{
  struct mnl_socket *socket = mnl->socket_open2 (NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == NULL || mnl->socket_bind (socket, 0, MNL_SOCKET_AUTOPID) < 0)
    {
      int saved = errno;
      closep (&socket);
      return error_errno (err, saved, "open a netlink socket");
    }
  *ret = socket;
  return 0;
}

/* One request and all that comes back.  0 or a negative errno.  */
static int talk (struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t callback, void *data)
{
  static char buffer[BUFFER_SIZE] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  unsigned port = mnl->socket_get_portid (socket);
  int r = MNL_CB_OK;
  request->nlmsg_seq = SEQUENCE;
  if (mnl->socket_sendto (socket, request, request->nlmsg_len) < 0)
    return -errno;
  while (r == MNL_CB_OK)
    {
      ssize_t n = mnl->socket_recvfrom (socket, buffer, sizeof buffer);
      if (n < 0)
        return -errno;
      r = mnl->cb_run (buffer, (size_t)n, SEQUENCE, port, callback, data);
    }
  return r < 0 ? -errno : 0;
}

/* ---- addresses ---- */

static int keep_part (const struct nlattr *attribute, void *data)
{
  struct address *a = data;
  uint16_t type = mnl->attr_get_type (attribute);
  uint16_t len = mnl->attr_get_payload_len (attribute);
  if (type != IFA_LOCAL && type != IFA_ADDRESS && type != IFA_BROADCAST)
    return MNL_CB_OK;
  if (len > ADDRESS_SIZE || a->n == sizeof a->parts / sizeof a->parts[0])
    return MNL_CB_OK;
  a->parts[a->n].type = type;
  a->parts[a->n].len = len;
  memcpy (a->parts[a->n++].bytes, mnl->attr_get_payload (attribute), len);
  return MNL_CB_OK;
}

/* Those of the link itself are made anew, those that a lease gave belong to who asked for it.  */
static int keep_address (const struct nlmsghdr *message, void *data)
{
  struct addresses *all = data;
  const struct ifaddrmsg *a = mnl->nlmsg_get_payload (message);
  if (a->ifa_index != all->index || a->ifa_scope >= RT_SCOPE_LINK
      || (a->ifa_flags & IFA_F_PERMANENT) == 0)
    return MNL_CB_OK;
  if (all->n == ADDRESSES_MAX)
    {
      all->too_many = true;
      return MNL_CB_OK;
    }
  struct address *item = &all->items[all->n++];
  *item = (struct address){ .family = a->ifa_family,
                            .prefix = a->ifa_prefixlen,
                            .scope = a->ifa_scope };
  mnl->attr_parse (message, sizeof (*a), keep_part, item);
  return MNL_CB_OK;
}

static int read_addresses (struct mnl_socket *socket, const char *name, struct addresses *ret,
                           struct error *err)
{
  char buffer[256] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = mnl->nlmsg_put_header (buffer);
  request->nlmsg_type = RTM_GETADDR;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  mnl->nlmsg_put_extra_header (request, sizeof (struct ifaddrmsg));
  int r = talk (socket, request, keep_address, ret);
  if (r < 0)
    return error_errno (err, -r, "read the addresses of network interface %s", name);
  return ret->too_many ? error_set (err, -E2BIG, "network interface %s has more than %d addresses",
                                    name, ADDRESSES_MAX)
                       : 0;
}

static int add_address (struct mnl_socket *socket, unsigned index, const struct address *a)
{
  char buffer[512] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = mnl->nlmsg_put_header (buffer);
  request->nlmsg_type = RTM_NEWADDR;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
  struct ifaddrmsg *m = mnl->nlmsg_put_extra_header (request, sizeof (*m));
  m->ifa_family = a->family;
  m->ifa_prefixlen = a->prefix;
  m->ifa_scope = a->scope;
  m->ifa_index = index;
  for (size_t i = 0; i < a->n; i++)
    mnl->attr_put (request, a->parts[i].type, a->parts[i].len, a->parts[i].bytes);
  return talk (socket, request, NULL, NULL);
}

/* ---- the link ---- */

static struct nlmsghdr *link_request (char *buffer, unsigned index, unsigned flags)
{
  struct nlmsghdr *request = mnl->nlmsg_put_header (buffer);
  request->nlmsg_type = RTM_NEWLINK;
  request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  struct ifinfomsg *link = mnl->nlmsg_put_extra_header (request, sizeof (*link));
  link->ifi_family = AF_UNSPEC;
  link->ifi_index = (int)index;
  link->ifi_flags = flags;
  link->ifi_change = flags;
  return request;
}

static int give_away (struct mnl_socket *socket, unsigned index, int namespace, const char *to)
{
  char buffer[256] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  struct nlmsghdr *request = link_request (buffer, index, 0);
  mnl->attr_put_u32 (request, IFLA_NET_NS_FD, (uint32_t) namespace);
  mnl->attr_put_strz (request, IFLA_IFNAME, to);
  return talk (socket, request, NULL, NULL);
}

/* In the container's namespace.  */
static int set_up (const struct addresses *addresses, const char *to, struct error *err)
{
  cleanup_socket struct mnl_socket *socket = NULL;
  char buffer[256] __attribute__ ((aligned (NLMSG_ALIGNTO)));
  int r = open_socket (&socket, err);
  if (r < 0)
    return r;
  unsigned index = if_nametoindex (to);
  if (index == 0)
    return error_errno (err, errno, "find network interface %s in the container", to);
  for (size_t i = 0; r == 0 && i < addresses->n; i++)
    r = add_address (socket, index, &addresses->items[i]);
  if (r < 0)
    return error_errno (err, -r, "give network interface %s its addresses", to);
  r = talk (socket, link_request (buffer, index, IFF_UP), NULL, NULL);
  return r < 0 ? error_errno (err, -r, "set network interface %s up", to) : 0;
}

static int set_up_inside (int own, int namespace, const struct addresses *addresses, const char *to,
                          struct error *err)
{
  if (setns (namespace, CLONE_NEWNET) < 0)
    return error_errno (err, errno, "enter the container's network namespace");
  int r = set_up (addresses, to, err);
  if (setns (own, CLONE_NEWNET) < 0)
    return error_errno (err, errno, "return to the own network namespace");
  return r;
}

int netdev_move (int procfd, pid_t pid, const char *from, const char *to, struct error *err)
{
  static struct addresses addresses;
  cleanup_socket struct mnl_socket *socket = NULL;
  char path[48];
  snprintf (path, sizeof path, "%d/ns/net", (int)pid);
  cleanup_close int own = openat (procfd, "self/ns/net", O_RDONLY | O_CLOEXEC);
  cleanup_close int namespace = openat (procfd, path, O_RDONLY | O_CLOEXEC);
  if (own < 0 || namespace < 0)
    return error_errno (err, errno, "open the network namespaces");
  addresses = (struct addresses){ .index = if_nametoindex (from) };
  if (addresses.index == 0)
    return error_errno (err, errno, "find network interface %s", from);
  int r = libmnl_load (&mnl, err);
  if (r == 0)
    r = open_socket (&socket, err);
  if (r == 0)
    r = read_addresses (socket, from, &addresses, err);
  if (r < 0)
    return r;
  r = give_away (socket, addresses.index, namespace, to);
  if (r < 0)
    return error_errno (err, -r, "move network interface %s into the container as %s", from, to);
  return set_up_inside (own, namespace, &addresses, to, err);
}

#else

int netdev_move (int procfd, pid_t pid, const char *from, const char *to, struct error *err)
{
  (void)procfd;
  (void)pid;
  (void)to;
  return error_set (err, -ENOTSUP,
                    "linux.netDevices %s: this build was made without libmnl and moves no "
                    "interface",
                    from);
}
#endif
