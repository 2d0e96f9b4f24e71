/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp programs run by a small interpreter, so that every number of every ABI can be asked, also
   those of the other machine.  Shared by the tests of src/linux/seccomp*.c.  */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>

#include "base/str.h"
#include "linux/seccomp.h"
#include "linux/seccomp_internal.h"

#define ERRNO(e) (SECCOMP_RET_ERRNO | (uint32_t)(e))

/* ---- The interpreter: the instructions that seccomp programs of ours consist of.  */

static inline bool compare (uint16_t code, uint32_t a, uint32_t k)
{
  switch (BPF_OP (code))
    {
    case BPF_JEQ:
      return a == k;
    case BPF_JGT:
      return a > k;
    case BPF_JGE:
      return a >= k;
    case BPF_JSET:
      return (a & k) != 0;
    default:
      fail_msg ("jump %#x", code);
      return false;
    }
}

static inline uint32_t run (const struct sock_filter *filter, size_t len,
                            const struct seccomp_data *data)
{
  uint32_t a = 0;
  for (size_t pc = 0; pc < len; pc++)
    {
      const struct sock_filter *i = &filter[pc];
      if (i->code == (BPF_LD | BPF_W | BPF_ABS))
        {
          assert_true (i->k % 4 == 0 && i->k < sizeof *data);
          memcpy (&a, (const char *)data + i->k, sizeof a);
        }
      else if (i->code == (BPF_ALU | BPF_AND | BPF_K))
        a &= i->k;
      else if (i->code == (BPF_JMP | BPF_JA))
        pc += i->k;
      else if (BPF_CLASS (i->code) == BPF_JMP)
        pc += compare (i->code, a, i->k) ? i->jt : i->jf;
      else if (i->code == (BPF_RET | BPF_K))
        return i->k;
      else
        fail_msg ("instruction %#x", i->code);
    }
  fail_msg ("the program runs over its end");
  return 0;
}

static inline uint32_t ask (const struct seccomp_program *program, enum seccomp_abi abi,
                            uint32_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
  struct seccomp_data data = { .nr = (int)nr,
                               .arch = seccomp_abi_audit[abi],
                               .args = { arg0, arg1, arg2, 0, 0, 0 } };
  return run (program->filter, program->len, &data);
}

static inline uint32_t number (enum seccomp_abi abi, const char *name)
{
  int nr = seccomp_syscall_resolve_name_arch (seccomp_abi_audit[abi], name);
  /* libseccomp has i386's sockets as parts of socketcall.  */
  if (abi == SECCOMP_ABI_I386 && strcmp (name, "socket") == 0)
    nr = 359;
  if (abi == SECCOMP_ABI_I386 && strcmp (name, "socketpair") == 0)
    nr = 360;
  if (nr == __NR_SCMP_ERROR)
    nr = seccomp_newer_number (name);
  assert_true (nr >= 0);
  return (uint32_t)nr;
}

static inline uint32_t ask_name (const struct seccomp_program *program, enum seccomp_abi abi,
                                 const char *name, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
  return ask (program, abi, number (abi, name), arg0, arg1, arg2);
}

/* ---- What the baseline refuses whatever the arguments (policy.md), and the group that opens it.
 */

static const struct
{
  const char *name, *group;
  int error;
} refused[] = {
  { "bpf", NULL, EPERM },
  { "kexec_load", NULL, EPERM },
  { "kexec_file_load", NULL, EPERM },
  { "init_module", NULL, EPERM },
  { "finit_module", NULL, EPERM },
  { "delete_module", NULL, EPERM },
  { "open_by_handle_at", NULL, EPERM },
  { "perf_event_open", "perf_event_open", EPERM },
  { "userfaultfd", "userfaultfd", EPERM },
  { "io_uring_setup", "io_uring", EPERM },
  { "io_uring_enter", "io_uring", EPERM },
  { "io_uring_register", "io_uring", EPERM },
  { "mount", "userns", EPERM },
  { "umount", "userns", EPERM },
  { "umount2", "userns", EPERM },
  { "pivot_root", "userns", EPERM },
  { "fsopen", NULL, EPERM },
  { "fsconfig", NULL, EPERM },
  { "fsmount", NULL, EPERM },
  { "fspick", NULL, EPERM },
  { "open_tree", NULL, EPERM },
  { "open_tree_attr", NULL, EPERM },
  { "move_mount", NULL, EPERM },
  { "mount_setattr", NULL, EPERM },
  { "setns", NULL, EPERM },
  { "swapon", NULL, EPERM },
  { "swapoff", NULL, EPERM },
  { "reboot", NULL, EPERM },
  { "add_key", "keyctl", EPERM },
  { "request_key", "keyctl", EPERM },
  { "keyctl", "keyctl", EPERM },
  { "process_vm_readv", "ptrace_other", EPERM },
  { "process_vm_writev", "ptrace_other", EPERM },
  { "clone3", NULL, ENOSYS },
};
