/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of seccomp share; nobody else includes this.  All of it runs in the parent and
   needs no privilege.  */
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "linux/seccomp_asm.h"
#include "ocispec.h"

/* The ways into the kernel that have their own numbers.  x32 is not among them: it shares the audit
   architecture of x86_64 and marks its numbers with bit 30.  */
enum seccomp_abi
{
  SECCOMP_ABI_X86_64,
  SECCOMP_ABI_I386,
  SECCOMP_ABI_ARM64,
  SECCOMP_ABI_ARM,
  SECCOMP_ABIS
};

#define SECCOMP_X32_BIT 0x40000000u

/* 32-bit ARM has calls of its own (set_tls …) from here up; elsewhere nothing is that large.  */
#define SECCOMP_PRIVATE_FIRST 0x0f0000u

/* What one kernel can run: the native ABI and its 32-bit companion.  */
struct seccomp_machine
{
  enum seccomp_abi abis[2];
  bool x32;
};

extern const struct seccomp_machine seccomp_machine_x86;
extern const struct seccomp_machine seccomp_machine_arm;
extern const uint32_t seccomp_abi_audit[SECCOMP_ABIS]; /* AUDIT_ARCH_* */

#if defined __x86_64__ && !defined __ILP32__
#  define SECCOMP_MACHINE (&seccomp_machine_x86)
#elif defined __aarch64__ && !defined __AARCH64EB__
#  define SECCOMP_MACHINE (&seccomp_machine_arm)
#else
#  error "the seccomp baseline knows x86_64 and little-endian arm64 only"
#endif

/* Which ABIs a profile covers, as bits 1 << enum seccomp_abi.  */
struct seccomp_abi_set
{
  unsigned abis;
  bool x32;
};

/* ---- seccomp_baseline.c */

/* The baseline for MACHINE: what it refuses returns, what it admits goes on behind the last
   instruction.  -EINVAL names an unknown group in ALLOWED.  */
int seccomp_baseline_emit (struct bpf_asm *, const struct seccomp_machine *, char *const *allowed,
                           size_t allowed_len, struct error *err);

/* ---- seccomp_newer.c */

/* System calls that are newer than libseccomp or newer than the profile: see there.  */
int seccomp_newer_emit (struct bpf_asm *, const struct seccomp_machine *,
                        const struct oci_seccomp *, const struct seccomp_abi_set *,
                        struct error *err);

/* The number of a call that libseccomp may not know yet (the same on every ABI), or -1.  */
int seccomp_newer_number (const char *name);

/* ---- seccomp_profile.c */

/* Checks all words of the profile and finds the ABIs that it covers on this machine; x32 is left
   out when the baseline refuses it anyway.  Errors name the field.  */
int seccomp_profile_check (const struct oci_seccomp *, bool baseline, struct seccomp_abi_set *ret,
                           struct error *err);

/* "linux.seccomp.flags" as SECCOMP_FILTER_FLAG_*.  */
int seccomp_profile_flags (const struct oci_seccomp *, unsigned *ret, struct error *err);

/* The profile as libseccomp compiles it.  *RET is allocated, the caller frees.  */
int seccomp_profile_export (const struct oci_seccomp *, const struct seccomp_abi_set *,
                            struct sock_filter **ret, size_t *ret_len, struct error *err);

/* SECCOMP_RET_* with its data for the default action, and for that of rule I.  */
int seccomp_default_action (const struct oci_seccomp *, uint32_t *ret, struct error *err);
int seccomp_rule_action (const struct oci_seccomp *, size_t i, uint32_t *ret, struct error *err);

/* ---- seccomp_default.c */

/* Room for the rules of the tables there, and one a group.  */
#define SECCOMP_DEFAULT_RULES_MAX 24

struct seccomp_default
{
  struct oci_seccomp profile;
  struct oci_seccomp_syscall rules[SECCOMP_DEFAULT_RULES_MAX];
  struct oci_seccomp_arg args[SECCOMP_DEFAULT_RULES_MAX];
  size_t args_len;
};

/* The built-in profile with the groups in ALLOWED opened.  *RET points into itself and to static
   tables: neither copied nor freed.  */
void seccomp_default_profile (char *const *allowed, size_t allowed_len,
                              struct seccomp_default *ret);
