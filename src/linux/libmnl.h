/* SPDX-License-Identifier: Apache-2.0 */
/* libmnl, loaded when a configuration first asks for something of rtnetlink(7): nearly none does,
   and each library costs every start.  The functions are those of <libmnl/libmnl.h>, without
   "mnl_".  */
#pragma once

#ifdef LIBMNL_PATH
#  include <libmnl/libmnl.h>

#  include "base/error.h"

#  define LIBMNL_FUNCTIONS(F)                                                                      \
    F (attr_get_payload)                                                                           \
    F (attr_get_payload_len)                                                                       \
    F (attr_get_type)                                                                              \
    F (attr_parse)                                                                                 \
    F (attr_put)                                                                                   \
    F (attr_put_strz)                                                                              \
    F (attr_put_u32)                                                                               \
    F (cb_run)                                                                                     \
    F (nlmsg_get_payload)                                                                          \
    F (nlmsg_put_extra_header)                                                                     \
    F (nlmsg_put_header)                                                                           \
    F (socket_bind)                                                                                \
    F (socket_close)                                                                               \
    F (socket_get_portid)                                                                          \
    F (socket_open2)                                                                               \
    F (socket_recvfrom)                                                                            \
    F (socket_sendto)

struct libmnl
{
#  define MEMBER(name) __typeof__ (mnl_##name) *name;
  LIBMNL_FUNCTIONS (MEMBER)
#  undef MEMBER
};

/* Once loaded the library stays.  -ELIBACC when it isn't installed, or lacks a function.  */
int libmnl_load (const struct libmnl **ret, struct error *err);
#endif
