/* SPDX-License-Identifier: Apache-2.0 */
/* Between the caller's terminal (or pipes) and the master of the container's: for `run` and `exec`
   with a terminal and without --console-socket.  Runs in the command's process, in the foreground.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/error.h"

struct relay_stream
{
  int from, to; /* -1: over */
  size_t begin, end;
  char data[16 * 1024];
};

struct relay
{
  int master; /* owned, as are the descriptors of the streams but for 0 and 1 */
  struct relay_stream input, output;
  struct termios saved;
  bool raw; /* the caller's terminal has to be given back as SAVED */
};

/* A pair of sockets: ENDS[1] is for the process inside, which sends its master there.  Both
   close-on-exec.  */
int relay_pair (int ends[2], struct error *err);

/* The size of the caller's terminal in characters; false if it has none.  */
bool relay_caller_size (unsigned *ret_height, unsigned *ret_width);

/* Takes the master from SOCK (ENDS[0]), gives it the caller's size, and makes the caller's terminal
   raw.  End with relay_end, which restores it.  */
int relay_start (int sock, struct relay *ret, struct error *err);
void relay_end (struct relay *);

/* One round of poll(2): what to wait for, and what to do then.  No read or write blocks, and what
   can't be written yet holds up what is read.  */
#define RELAY_POLL 3
void relay_prepare (const struct relay *, struct pollfd fds[RELAY_POLL]);
void relay_transfer (struct relay *, const struct pollfd fds[RELAY_POLL]);

/* The caller's terminal has another size now (SIGWINCH).  */
void relay_resize (struct relay *);

/* The process has ended: only output is left.  */
void relay_stop_input (struct relay *);
/* Whether output is left in our own hands; and whether none can come any more.  */
bool relay_has_output (const struct relay *);
bool relay_is_over (const struct relay *);
