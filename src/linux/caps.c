/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the five capability sets of this thread.  Runs in init and in a joining process, around
   user_set; needs CAP_SETPCAP, and what it gives.  capset(2) itself and not libcap's named
   interface: the sets arrive as masks, and masks can be compared.  */

#include "linux/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/str.h"

static uint64_t bit (int cap) { return UINT64_C (1) << cap; }

int caps_last (void) { return cap_max_bits () - 1; }

static uint64_t known (void)
{
  int last = caps_last ();
  return last >= 63 ? UINT64_MAX : bit (last + 1) - 1;
}

static uint64_t read_bounding (void)
{
  uint64_t set = 0;
  for (int cap = 0; cap <= caps_last (); cap++)
    if (cap_get_bound (cap) == 1)
      set |= bit (cap);
  return set;
}

static uint64_t read_ambient (void)
{
  uint64_t set = 0;
  for (int cap = 0; cap <= caps_last (); cap++)
    if (cap_get_ambient (cap) == 1)
      set |= bit (cap);
  return set;
}

/* The sets that capget(2) tells.  */
static int read_sets (struct cap_sets *ret)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
  if (capget (&header, data) < 0)
    return -errno;
  ret->effective = data[0].effective | (uint64_t)data[1].effective << 32;
  ret->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
  ret->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
  return 0;
}

static int write_sets (const struct cap_sets *sets)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
    {
      data[i].effective = (uint32_t)(sets->effective >> 32 * i);
      data[i].permitted = (uint32_t)(sets->permitted >> 32 * i);
      data[i].inheritable = (uint32_t)(sets->inheritable >> 32 * i);
    }
  return capset (&header, data) < 0 ? -errno : 0;
}

uint64_t caps_limit (struct cap_sets *sets)
{
  struct cap_sets own = { 0 };
  read_sets (&own); /* on failure the own sets are empty: nothing is given */
  uint64_t bounding = read_bounding ();
  uint64_t can = own.permitted & bounding & known ();
  uint64_t asked =
      sets->bounding | sets->effective | sets->permitted | sets->inheritable | sets->ambient;

  /* Keeping something in the bounding set takes no permitted capability.  */
  uint64_t removed = asked & ~can & ~(sets->bounding & bounding & known ());
  removed |= (sets->effective | sets->permitted | sets->inheritable | sets->ambient) & ~can;
  sets->bounding &= bounding & known ();
  sets->effective &= can;
  sets->permitted &= can;
  sets->inheritable &= can;
  sets->ambient &= can;
  return removed;
}

static int check (const struct cap_sets *sets, struct error *err)
{
  uint64_t all =
      sets->bounding | sets->effective | sets->permitted | sets->inheritable | sets->ambient;
  if (all & ~known ())
    return error_set (err, -EINVAL, "capabilities: mask 0x%llx is unknown to this kernel",
                      (unsigned long long)(all & ~known ()));
  if (sets->effective & ~sets->permitted)
    return error_set (err, -EINVAL,
                      "process.capabilities.effective has what permitted has not (mask 0x%llx)",
                      (unsigned long long)(sets->effective & ~sets->permitted));
  if (sets->ambient & ~(sets->permitted & sets->inheritable))
    return error_set (
        err, -EINVAL,
        "process.capabilities.ambient has what permitted or inheritable has not (mask 0x%llx)",
        (unsigned long long)(sets->ambient & ~(sets->permitted & sets->inheritable)));
  return 0;
}

int caps_before_user_change (const struct cap_sets *sets, struct error *err)
{
  int r = check (sets, err);
  if (r < 0)
    return r;
  for (int cap = 0; cap <= caps_last (); cap++)
    if (!(sets->bounding & bit (cap)) && cap_get_bound (cap) == 1 && cap_drop_bound (cap) < 0)
      return error_errno (err, errno, "drop capability %d from the bounding set", cap);
  if (prctl (PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "keep capabilities over the change of user");
  return 0;
}

static int raise_ambient (uint64_t ambient, struct error *err)
{
  if (cap_reset_ambient () < 0)
    return error_errno (err, errno, "clear the ambient capabilities");
  for (int cap = 0; cap <= caps_last (); cap++)
    if ((ambient & bit (cap)) && cap_set_ambient (cap, CAP_SET) < 0)
      return error_errno (err, errno, "raise ambient capability %d", cap);
  return 0;
}

/* A set that is larger than asked is a hole, a smaller one a failure later on: neither may start.
 */
static int verify (const struct cap_sets *sets, struct error *err)
{
  struct cap_sets now = { .bounding = read_bounding (), .ambient = read_ambient () };
  int r = read_sets (&now);
  if (r < 0)
    return error_errno (err, -r, "read the capabilities back");
  const struct
  {
    const char *name;
    uint64_t is, wanted;
  } table[] = {
    { "bounding", now.bounding, sets->bounding },
    { "effective", now.effective, sets->effective },
    { "permitted", now.permitted, sets->permitted },
    { "inheritable", now.inheritable, sets->inheritable },
    { "ambient", now.ambient, sets->ambient },
  };
  for (size_t i = 0; i < ARRAY_SIZE (table); i++)
    if (table[i].is != table[i].wanted)
      return error_set (err, -EPERM, "%s capabilities are 0x%llx in place of 0x%llx", table[i].name,
                        (unsigned long long)table[i].is, (unsigned long long)table[i].wanted);
  return 0;
}

int caps_after (const struct cap_sets *sets, struct error *err)
{
  int r = check (sets, err);
  if (r < 0)
    return r;
  r = write_sets (sets);
  if (r < 0)
    return error_errno (err, -r, "set the capabilities");
  r = raise_ambient (sets->ambient, err);
  if (r < 0)
    return r;
  if (prctl (PR_SET_KEEPCAPS, 0L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "end keeping capabilities");
  return verify (sets, err);
}
