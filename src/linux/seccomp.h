/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp programs: built in the parent, loaded by init as its last act but execve.  */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "ocispec.h"

struct seccomp_request
{
  const struct oci_seccomp *profile; /* NULL with `builtin`, or for the baseline alone */
  bool builtin;                      /* the built-in profile */
  bool baseline;                     /* the baseline filter in front */
  char *const *allowed;              /* named groups that leave the baseline */
  size_t allowed_len;
};

struct seccomp_program
{
  struct sock_filter *filter; /* owned (malloc) */
  unsigned short len;
  unsigned flags; /* SECCOMP_FILTER_FLAG_* */
};

/* One program for baseline and profile.  A request for none of them gives an empty program.  What
   the profile holds and this build can't do is an error that names the field; a system call that
   nobody here knows is skipped, as by other runtimes (config-linux.md, Seccomp).  ALLOWED opens its
   groups in the baseline and in the built-in profile, never in PROFILE.  -EINVAL, -ENOTSUP, -EEXIST
   (two actions for one call), -E2BIG (more than BPF_MAXINSNS), -ENOMEM.  Makes no lasting change
   and needs no privilege.  Free with seccomp_program_free.  */
int seccomp_build (const struct seccomp_request *, struct seccomp_program *ret, struct error *err);
void seccomp_program_free (struct seccomp_program *);
#define cleanup_seccomp __attribute__ ((cleanup (seccomp_program_free)))

/* Loads into the calling thread; no_new_privs is set or the caller has CAP_SYS_ADMIN.  Makes no
   other system call than seccomp(2), and none for an empty program.  (Not seccomp_load: that is a
   function of libseccomp.)  */
int seccomp_program_load (const struct seccomp_program *, struct error *err);

/* The groups that a grant can open, NULL-terminated, static.  spec/seccomp_names.h has the same
   list for those who may not include linux/.  */
const char *const *seccomp_baseline_groups (void);
bool seccomp_baseline_group_known (const char *name);
