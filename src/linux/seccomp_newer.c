/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that somebody does not know yet.  Two cases, both between the baseline and the
   program that libseccomp makes:

   - libseccomp is older than a call that the profile names: the rule would be lost.  Since Linux
     5.1 a new call has one number on every ABI, so that a table is enough to keep it.
   - the profile is older than the kernel: the default action, EPERM as a rule, then meets calls
   whose author of the profile never heard of them, and libc does not fall back to the older call as
   it does on ENOSYS.  So what is newer than the newest call that the profile names answers ENOSYS.
   Only when the default action is an errno: somebody who wants these calls killed, trapped or
   traced has said so.

   Runs in the parent; pure code.  */
#include <errno.h>
#include <seccomp.h>

#include "base/str.h"
#include "linux/seccomp_internal.h"

static const struct
{
  const char *name;
  int nr;
} newer[] = {
  { "futex_waitv", 449 },       { "set_mempolicy_home_node", 450 },
  { "cachestat", 451 },         { "fchmodat2", 452 },
  { "map_shadow_stack", 453 },  { "futex_wake", 454 },
  { "futex_wait", 455 },        { "futex_requeue", 456 },
  { "statmount", 457 },         { "listmount", 458 },
  { "lsm_get_self_attr", 459 }, { "lsm_set_self_attr", 460 },
  { "lsm_list_modules", 461 },  { "mseal", 462 },
  { "setxattrat", 463 },        { "getxattrat", 464 },
  { "listxattrat", 465 },       { "removexattrat", 466 },
  { "open_tree_attr", 467 },    { "file_getattr", 468 },
  { "file_setattr", 469 },
};

static int newer_index (const char *name)
{
  for (size_t i = 0; i < ARRAY_SIZE (newer); i++)
    if (str_equal (newer[i].name, name))
      return (int)i;
  return -1;
}

int seccomp_newer_number (const char *name)
{
  int i = newer_index (name);
  return i < 0 ? -1 : newer[i].nr;
}

/* The place in the table if libseccomp does not know the name, else -1.  */
static int lost_index (const char *name)
{
  if (seccomp_syscall_resolve_name (name) != __NR_SCMP_ERROR)
    return -1;
  return newer_index (name);
}

/* The largest number that the profile names on ABI, whatever the action; -1 if there is none.  */
static int newest_named (const struct oci_seccomp *profile, enum seccomp_abi abi)
{
  int newest = -1;
  for (size_t i = 0; i < profile->syscalls_len; i++)
    for (size_t j = 0; j < profile->syscalls[i].names_len; j++)
      {
        const char *name = profile->syscalls[i].names[j];
        int nr = seccomp_syscall_resolve_name_arch (seccomp_abi_audit[abi], name);
        /* libseccomp has negative numbers for what an ABI lacks or multiplexes.  */
        if (nr == __NR_SCMP_ERROR)
          nr = seccomp_newer_number (name);
        if (nr > newest && nr < (int)SECCOMP_PRIVATE_FIRST)
          newest = nr;
      }
  return newest;
}

struct lost
{
  bool done[ARRAY_SIZE (newer)]; /* the first rule of a call counts, as with libseccomp */
  uint32_t fallback;
};

static int emit_lost_call (struct bpf_asm *a, const struct oci_seccomp *profile, size_t i,
                           int which, struct lost *lost, struct error *err)
{
  uint32_t action;
  int r = seccomp_rule_action (profile, i, &action, err);
  if (r < 0 || action == lost->fallback || lost->done[which])
    return r;
  if (profile->syscalls[i].args_len > 0)
    return error_set (
        err, -ENOTSUP,
        "linux.seccomp.syscalls[%zu].args: the libseccomp of this build does not know "
        "%s and can't compare its arguments",
        i, newer[which].name);
  bpf_label no = bpf_asm_label (a);
  bpf_asm_if (a, BPF_JEQ, (uint32_t)newer[which].nr, BPF_ASM_NEXT, no);
  bpf_asm_return (a, action);
  bpf_asm_place (a, no);
  lost->done[which] = true;
  return 0;
}

static int emit_lost (struct bpf_asm *a, const struct oci_seccomp *profile, uint32_t fallback,
                      struct error *err)
{
  struct lost lost = { .fallback = fallback };
  for (size_t i = 0; i < profile->syscalls_len; i++)
    for (size_t j = 0; j < profile->syscalls[i].names_len; j++)
      {
        int which = lost_index (profile->syscalls[i].names[j]);
        int r = which < 0 ? 0 : emit_lost_call (a, profile, i, which, &lost, err);
        if (r < 0)
          return r;
      }
  return 0;
}

static bool wants_enosys (uint32_t action)
{
  return (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO
         && (action & SECCOMP_RET_DATA) != ENOSYS;
}

static int emit_abi (struct bpf_asm *a, const struct seccomp_machine *machine, enum seccomp_abi abi,
                     const struct oci_seccomp *profile, bpf_label end, struct error *err)
{
  uint32_t fallback;
  bpf_label here = bpf_asm_label (a), other = bpf_asm_label (a), old = bpf_asm_label (a);
  int r = seccomp_default_action (profile, &fallback, err);
  if (r < 0)
    return r;
  bpf_asm_if (a, BPF_JEQ, seccomp_abi_audit[abi], here, other);
  bpf_asm_place (a, here);
  bpf_asm_load (a, offsetof (struct seccomp_data, nr));
  /* Only without the baseline do x32 calls come here; libseccomp's part judges them.  */
  if (machine->x32 && abi == SECCOMP_ABI_X86_64)
    bpf_asm_if (a, BPF_JSET, SECCOMP_X32_BIT, old, BPF_ASM_NEXT);
  r = emit_lost (a, profile, fallback, err);
  if (r < 0)
    return r;
  int newest = newest_named (profile, abi);
  if (newest >= 0 && wants_enosys (fallback))
    {
      bpf_asm_if (a, BPF_JGT, (uint32_t)newest, BPF_ASM_NEXT, old);
      bpf_asm_if (a, BPF_JGE, SECCOMP_PRIVATE_FIRST, old, BPF_ASM_NEXT);
      bpf_asm_return (a, SECCOMP_RET_ERRNO | ENOSYS);
    }
  bpf_asm_place (a, old);
  bpf_asm_jump (a, end);
  bpf_asm_place (a, other);
  return 0;
}

int seccomp_newer_emit (struct bpf_asm *a, const struct seccomp_machine *machine,
                        const struct oci_seccomp *profile, const struct seccomp_abi_set *set,
                        struct error *err)
{
  bpf_label end = bpf_asm_label (a);
  bpf_asm_load (a, offsetof (struct seccomp_data, arch));
  for (size_t i = 0; i < ARRAY_SIZE (machine->abis); i++)
    if (set->abis & (1u << machine->abis[i]))
      {
        int r = emit_abi (a, machine, machine->abis[i], profile, end, err);
        if (r < 0)
          return r;
      }
  bpf_asm_place (a, end);
  return 0;
}
