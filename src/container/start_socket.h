/* SPDX-License-Identifier: Apache-2.0 */
/* The socket start.sock in the state directory, on which a parked init waits.  Who may open the
   directory (its owner) may start the container; nobody else gets to the socket.  */
#pragma once

#include "base/error.h"

/* In the parent: a listening socket, made in DIRFD.  */
int start_socket_listen (int dirfd, int *ret_fd, struct error *err);

/* In `start`: connects, gives the go with STATE_JSON for the hooks, and waits until the workload
   has been executed (0) or could not be (init's own sentence in ERR).  */
int start_socket_go (int dirfd, const char *state_json, struct error *err);

/* The same over a connection to init.  */
int start_go (int fd, const char *state_json, struct error *err);
