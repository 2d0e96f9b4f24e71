/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets with a path (unix(7)).  */
#pragma once

#include "base/error.h"

/* A stream connected to PATH, which may be longer than an address has room for; close-on-exec. WHAT
   names the socket in the message: "console socket".  */
int unix_connect (const char *path, const char *what, int *ret_sock, struct error *err);
