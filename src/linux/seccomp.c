/* SPDX-License-Identifier: Apache-2.0 */
/* One seccomp program of up to three parts, each of which falls through to the next: the baseline,
   the calls that are newer than the profile or libseccomp, the profile.  Building runs in the
   parent and is a pure function of the request (and of libseccomp's version), so that the result
   can be kept by content.  Loading runs in init: it needs no_new_privs or CAP_SYS_ADMIN.  */
#include "linux/seccomp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/seccomp_internal.h"

static int join (const struct bpf_asm *front, const struct sock_filter *back, size_t back_len,
                 struct seccomp_program *ret, struct error *err)
{
  size_t len = front->len + back_len;
  if (len > BPF_MAXINSNS)
    return error_set (err, -E2BIG,
                      "linux.seccomp: the profile makes a program of %zu instructions (%zu of them "
                      "the baseline's), the kernel takes %d",
                      len, front->len, BPF_MAXINSNS);
  struct sock_filter *filter = malloc (len * sizeof *filter);
  if (filter == NULL)
    return error_set (err, -ENOMEM, "seccomp: out of memory");
  memcpy (filter, front->insns, front->len * sizeof *filter);
  if (back_len > 0)
    memcpy (filter + front->len, back, back_len * sizeof *filter);
  ret->filter = filter;
  ret->len = (unsigned short)len;
  return 0;
}

static int build_profile (struct bpf_asm *front, const struct oci_seccomp *profile, bool baseline,
                          struct seccomp_program *ret, struct error *err)
{
  struct seccomp_abi_set set;
  cleanup_free struct sock_filter *back = NULL;
  size_t back_len;
  int r = seccomp_profile_check (profile, baseline, &set, err);
  if (r == 0)
    r = seccomp_profile_flags (profile, &ret->flags, err);
  if (r == 0)
    r = seccomp_newer_emit (front, SECCOMP_MACHINE, profile, &set, err);
  if (r == 0)
    r = bpf_asm_link (front, err);
  if (r == 0)
    r = seccomp_profile_export (profile, &set, &back, &back_len, err);
  return r < 0 ? r : join (front, back, back_len, ret, err);
}

static int check_groups (const struct seccomp_request *request, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  for (size_t i = 0; i < request->allowed_len; i++)
    if (!seccomp_baseline_group_known (request->allowed[i]))
      return error_set (err, -EINVAL, "seccomp: no group \"%s\" that a grant can open",
                        str_quote (request->allowed[i], quoted));
  return 0;
}

int seccomp_build (const struct seccomp_request *request, struct seccomp_program *ret,
                   struct error *err)
{
  struct bpf_asm front = { 0 };
  struct seccomp_program program = { 0 };
  struct seccomp_default builtin;
  const struct oci_seccomp *profile = request->profile;
  int r = check_groups (request, err);
  if (r == 0 && profile != NULL && request->builtin)
    r = error_set (err, -EINVAL, "seccomp: both a profile and the built-in one");
  if (r == 0 && request->baseline)
    r = seccomp_baseline_emit (&front, SECCOMP_MACHINE, request->allowed, request->allowed_len,
                               err);
  if (r < 0)
    return r;
  if (request->builtin)
    {
      seccomp_default_profile (request->allowed, request->allowed_len, &builtin);
      profile = &builtin.profile;
    }
  if (profile != NULL)
    r = build_profile (&front, profile, request->baseline, &program, err);
  else if (request->baseline)
    {
      bpf_asm_return (&front, SECCOMP_RET_ALLOW);
      r = bpf_asm_link (&front, err);
      if (r == 0)
        r = join (&front, NULL, 0, &program, err);
    }
  if (r < 0)
    return r;
  *ret = program;
  return 0;
}

void seccomp_program_free (struct seccomp_program *program)
{
  free (program->filter);
  *program = (struct seccomp_program){ 0 };
}

int seccomp_program_load (const struct seccomp_program *program, struct error *err)
{
  if (program->len == 0)
    return 0;
  struct sock_fprog fprog = { .len = program->len, .filter = program->filter };
  long r = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, program->flags, &fprog);
  if (r > 0) /* SECCOMP_FILTER_FLAG_TSYNC */
    return error_set (err, -EBUSY, "load the seccomp filter: thread %ld can't be synchronised", r);
  if (r < 0)
    return error_errno (err, errno, "load the seccomp filter of %u instructions",
                        (unsigned)program->len);
  return 0;
}
