/* SPDX-License-Identifier: Apache-2.0 */
/* resolve: answers the policy's questions about the host with opened objects.  The one part of
   spec/ (resolve*.c, mountinfo.c and walk*.c) that opens host paths; reads only.  Runs in the
   parent, in the engine's mount namespace, before anything was made.  */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "spec/facts.h" /* generated */

struct resolved
{
  struct facts *facts; /* in the arena */
  int *descriptors;    /* what `descriptor` members index; all close-on-exec; owned */
  size_t descriptors_len;
};

/* A source that can't be opened is a fact, not an error: fact_source.error.  Errors are only those
   of memory and of agentrun itself.  The texts of QUESTIONS are kept in the facts: both live as
   long as the arena.  Forks a child for each walk and waits for it.  */
int spec_resolve (const struct questions *, struct arena *, struct resolved *ret,
                  struct error *err);

/* The same with the bundle as it was opened by bundle_load, so that a relative source or root is
   looked up in the directory whose config.json was read and nowhere else.  BUNDLE_FD stays the
   caller's; a negative errno in its place becomes facts.bundleError.  */
int spec_resolve_at (int bundle_fd, const struct questions *, struct arena *, struct resolved *ret,
                     struct error *err);

void resolved_free (struct resolved *);
#define cleanup_resolved __attribute__ ((cleanup (resolved_free)))
