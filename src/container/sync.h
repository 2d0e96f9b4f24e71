/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation of parent and init: one packet a message over a SOCK_SEQPACKET pair, each
   allowed at one place only.  */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* In the order in which they are said.  */
enum sync_message
{
  SYNC_GO,       /* parent: you are known, begin */
  SYNC_ENTERED,  /* of exec: I am in my cgroup */
  SYNC_PREPARED, /* init: namespaces, mounts and devices are there, the root is not yet changed */
  SYNC_HOOKED,   /* parent: device filter installed, hooks done; carries the state as JSON */
  SYNC_READY,    /* init: all is done but what `start` does; I wait for it */
  SYNC_ERROR     /* init: it failed; carries the sentence */
};

#define SYNC_TEXT_MAX (128 * 1024)

/* ENDS[0] is the parent's.  Both close-on-exec.  */
int sync_pair (int ends[2], struct error *err);

/* TEXT may be NULL.  */
int sync_send (int fd, enum sync_message message, const char *text, struct error *err);

/* Waits for MESSAGE.  RET_TEXT (may be NULL) is malloc'ed.  SYNC_ERROR in its place becomes ERR
   with the sender's sentence; the end of the stream -EPIPE: the other side is gone; anything else
   -EPROTO.  */
int sync_expect (int fd, enum sync_message message, char **ret_text, struct error *err);

/* Sends ERR itself.  Best effort: nobody is left to tell if it fails.  */
void sync_send_error (int fd, const struct error *error);
