/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the five capability sets of this thread.  Runs in init and in a joining process, around
   user_set; needs CAP_SETPCAP, and what it gives.  capset(2) itself and not libcap's named
   interface: the sets arrive as masks, and masks can be compared.  All five are read in one look at
   /proc; prctl(2) would be asked once for each capability and set.  */

#include "linux/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/str.h"
#include "linux/procfs.h"

static uint64_t bit (int cap) { return UINT64_C (1) << cap; }

static bool exists (int cap) { return prctl (PR_CAPBSET_READ, (long)cap, 0L, 0L, 0L) >= 0; }

/* From what this was built for: two questions on most kernels.  */
int caps_last (void)
{
  static int last = -2;
  if (last == -2)
    {
      last = CAP_LAST_CAP;
      while (last >= 0 && !exists (last))
        last--;
      while (last < 63 && exists (last + 1))
        last++;
    }
  return last;
}

static uint64_t known (void)
{
  int last = caps_last ();
  return last >= 63 ? UINT64_MAX : bit (last + 1) - 1;
}

static int read_sets (int procfd, struct cap_sets *ret, struct error *err)
{
  static const char *const names[] = { "CapBnd", "CapEff", "CapPrm", "CapInh", "CapAmb" };
  uint64_t masks[ARRAY_SIZE (names)];
  int r = procfs_own_masks (procfd, names, masks, ARRAY_SIZE (names), err);
  if (r == 0)
    *ret = (struct cap_sets){ masks[0], masks[1], masks[2], masks[3], masks[4] };
  return r;
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
  return syscall (SYS_capset, &header, data) < 0 ? -errno : 0;
}

uint64_t caps_limit (int procfd, struct cap_sets *sets)
{
  struct cap_sets own = { 0 };
  read_sets (procfd, &own, NULL); /* on failure the own sets are empty: nothing is given */
  uint64_t bounding = own.bounding;
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

/* Without CAP_SETPCAP none can be dropped, but then it need not have been there.  */
static int drop_bounding (int cap)
{
  if (prctl (PR_CAPBSET_DROP, (long)cap, 0L, 0L, 0L) == 0)
    return 0;
  int saved = errno;
  if (prctl (PR_CAPBSET_READ, (long)cap, 0L, 0L, 0L) == 0)
    return 0;
  errno = saved;
  return -1;
}

int caps_before_user_change (const struct cap_sets *sets, struct error *err)
{
  int r = check (sets, err);
  if (r < 0)
    return r;
  for (int cap = 0; cap <= caps_last (); cap++)
    if (!(sets->bounding & bit (cap)) && drop_bounding (cap) < 0)
      return error_errno (err, errno, "drop capability %d from the bounding set", cap);
  if (prctl (PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "keep capabilities over the change of user");
  return 0;
}

static int raise_ambient (uint64_t ambient, struct error *err)
{
  if (prctl (PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L) < 0)
    return error_errno (err, errno, "clear the ambient capabilities");
  for (int cap = 0; cap <= caps_last (); cap++)
    if ((ambient & bit (cap))
        && prctl (PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_RAISE, (long)cap, 0L, 0L) < 0)
      return error_errno (err, errno, "raise ambient capability %d", cap);
  return 0;
}

/* A set that is larger than asked is a hole, a smaller one a failure later on: neither may start.
 */
static int verify (int procfd, const struct cap_sets *sets, struct error *err)
{
  struct cap_sets now = { 0 };
  int r = read_sets (procfd, &now, err);
  if (r < 0)
    return error_context (err, "read the capabilities back");
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

int caps_after (int procfd, const struct cap_sets *sets, struct error *err)
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
  return verify (procfd, sets, err);
}
