/* SPDX-License-Identifier: Apache-2.0 */
/* Capability sets, capabilities(7); bit N is capability N.  Of the calling thread, which is the
   only one.  */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct cap_sets
{
  uint64_t bounding;
  uint64_t effective;
  uint64_t permitted;
  uint64_t inheritable;
  uint64_t ambient;
};

/* The highest capability of this kernel, or -1 if not even the first is known.  */
int caps_last (void);

/* Takes out of all sets what can't be given: unknown to the kernel, or not in the caller's own
   permitted or bounding set.  Returns what was taken out of any of them, for the warning that the
   runtime-spec asks for ("process.capabilities: should not fail").  PROCFD as procfs_open gave it.
 */
uint64_t caps_limit (int procfd, struct cap_sets *sets);

/* First half, with CAP_SETPCAP: checks the sets against each other (effective within permitted,
   ambient within permitted and inheritable; else -EINVAL), drops from the bounding set, keeps
   capabilities over the change of user.  */
int caps_before_user_change (const struct cap_sets *sets, struct error *err);

/* Second half, after user_set: exactly these sets, and ambient; then reads them back and compares.
 */
int caps_after (int procfd, const struct cap_sets *sets, struct error *err);
