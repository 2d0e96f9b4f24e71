/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline filter: what no sandbox needs and what kernel exploits come through, refused
   whatever the engine's profile says.  A hand-made prefix in front of the profile's program and not
   a second filter: of two filters with equal actions the one installed last wins, which would turn
   ENOSYS for clone3 into EPERM, and a profile that refuses seccomp(2) would refuse the second load.

   An errno here comes before a KILL that the profile may hold for the same call.  Either way the
   call does not happen; the process that asks only lives on.

   Runs in the parent; pure code.  */
#include <errno.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/str.h"
#include "linux/seccomp.h"
#include "linux/seccomp_internal.h"

#ifndef CLONE_NEWTIME
#  define CLONE_NEWTIME 0x00000080
#endif

#define CLONE_NEW_ANY                                                                              \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID      \
   | CLONE_NEWNET)

const struct seccomp_machine seccomp_machine_x86 = {
  .abis = { SECCOMP_ABI_X86_64, SECCOMP_ABI_I386 }, .x32 = true
};
const struct seccomp_machine seccomp_machine_arm = { .abis = { SECCOMP_ABI_ARM64,
                                                               SECCOMP_ABI_ARM } };

const uint32_t seccomp_abi_audit[SECCOMP_ABIS] = {
  [SECCOMP_ABI_X86_64] = AUDIT_ARCH_X86_64,
  [SECCOMP_ABI_I386] = AUDIT_ARCH_I386,
  [SECCOMP_ABI_ARM64] = AUDIT_ARCH_AARCH64,
  [SECCOMP_ABI_ARM] = AUDIT_ARCH_ARM,
};

/* What a grant can open.  The rest of the table stays shut for everybody.  */
enum group
{
  GROUP_NONE,
  /* Sandboxes inside the sandbox.  chromium needs clone with new user, pid and network namespaces;
     bubblewrap also the mount namespace with mount, umount2 and pivot_root.  That is all that is
     opened: no setns, no time namespace (nobody uses it), none of the fd based mount calls.  An
     engine's profile that refuses these calls still does.  */
  GROUP_USERNS,
  GROUP_IO_URING,
  GROUP_PERF,
  GROUP_KEYCTL,
  /* Another process's memory without attaching to it; ptrace(2) itself is always open.  */
  GROUP_PTRACE_OTHER,
  GROUP_USERFAULTFD,
  GROUPS
};

static const char *const group_names[GROUPS + 1] = {
  [GROUP_NONE] = "",
  [GROUP_USERNS] = "userns",
  [GROUP_IO_URING] = "io_uring",
  [GROUP_PERF] = "perf_event_open",
  [GROUP_KEYCTL] = "keyctl",
  [GROUP_PTRACE_OTHER] = "ptrace_other",
  [GROUP_USERFAULTFD] = "userfaultfd",
};

/* What happens to a call: an answer, or a look at its arguments first.  */
enum target
{
  TO_NEXT,
  TO_EPERM,
  TO_ENOSYS,
  TO_EAFNOSUPPORT,
  TO_EPROTONOSUPPORT,
  TO_KILL,
  TO_IOCTL,
  TO_CLONE,
  TO_UNSHARE,
  TO_SOCKET,
  TO_PROFILE,
  TARGETS
};

struct row
{
  const char *name;
  enum target target;
  enum group group;
  int16_t nr[SECCOMP_ABIS]; /* x86_64, i386, arm64, arm; -1 where there is no such call */
};

static const struct row rows[] = {
  /* Code in the kernel.  */
  { "bpf", TO_EPERM, GROUP_NONE, { 321, 357, 280, 386 } },
  { "init_module", TO_EPERM, GROUP_NONE, { 175, 128, 105, 128 } },
  { "finit_module", TO_EPERM, GROUP_NONE, { 313, 350, 273, 379 } },
  { "delete_module", TO_EPERM, GROUP_NONE, { 176, 129, 106, 129 } },
  { "kexec_load", TO_EPERM, GROUP_NONE, { 246, 283, 104, 347 } },
  { "kexec_file_load", TO_EPERM, GROUP_NONE, { 320, -1, 294, 401 } },
  { "reboot", TO_EPERM, GROUP_NONE, { 169, 88, 142, 88 } },
  { "swapon", TO_EPERM, GROUP_NONE, { 167, 87, 224, 87 } },
  { "swapoff", TO_EPERM, GROUP_NONE, { 168, 115, 225, 115 } },

  /* Files past the mount tree, and the tree itself.  */
  { "open_by_handle_at", TO_EPERM, GROUP_NONE, { 304, 342, 265, 371 } },
  { "mount", TO_EPERM, GROUP_USERNS, { 165, 21, 40, 21 } },
  { "umount", TO_EPERM, GROUP_USERNS, { -1, 22, -1, -1 } },
  { "umount2", TO_EPERM, GROUP_USERNS, { 166, 52, 39, 52 } },
  { "pivot_root", TO_EPERM, GROUP_USERNS, { 155, 217, 41, 218 } },
  { "open_tree", TO_EPERM, GROUP_NONE, { 428, 428, 428, 428 } },
  { "move_mount", TO_EPERM, GROUP_NONE, { 429, 429, 429, 429 } },
  { "fsopen", TO_EPERM, GROUP_NONE, { 430, 430, 430, 430 } },
  { "fsconfig", TO_EPERM, GROUP_NONE, { 431, 431, 431, 431 } },
  { "fsmount", TO_EPERM, GROUP_NONE, { 432, 432, 432, 432 } },
  { "fspick", TO_EPERM, GROUP_NONE, { 433, 433, 433, 433 } },
  { "mount_setattr", TO_EPERM, GROUP_NONE, { 442, 442, 442, 442 } },
  { "open_tree_attr", TO_EPERM, GROUP_NONE, { 467, 467, 467, 467 } },

  /* Namespaces.  clone3 has its flags behind a pointer; EPERM would break every pthread_create,
     ENOSYS makes libc fall back to clone.  */
  { "setns", TO_EPERM, GROUP_NONE, { 308, 346, 268, 375 } },
  { "unshare", TO_UNSHARE, GROUP_NONE, { 272, 310, 97, 337 } },
  { "clone", TO_CLONE, GROUP_USERNS, { 56, 120, 220, 120 } },
  { "clone3", TO_ENOSYS, GROUP_NONE, { 435, 435, 435, 435 } },

  /* Large and young parts of the kernel.  */
  { "perf_event_open", TO_EPERM, GROUP_PERF, { 298, 336, 241, 364 } },
  { "userfaultfd", TO_EPERM, GROUP_USERFAULTFD, { 323, 374, 282, 388 } },
  { "io_uring_setup", TO_EPERM, GROUP_IO_URING, { 425, 425, 425, 425 } },
  { "io_uring_enter", TO_EPERM, GROUP_IO_URING, { 426, 426, 426, 426 } },
  { "io_uring_register", TO_EPERM, GROUP_IO_URING, { 427, 427, 427, 427 } },

  /* Keyrings know no namespace.  */
  { "add_key", TO_EPERM, GROUP_KEYCTL, { 248, 286, 217, 309 } },
  { "request_key", TO_EPERM, GROUP_KEYCTL, { 249, 287, 218, 310 } },
  { "keyctl", TO_EPERM, GROUP_KEYCTL, { 250, 288, 219, 311 } },

  /* Other processes, other people's terminals.  */
  { "process_vm_readv", TO_EPERM, GROUP_PTRACE_OTHER, { 310, 347, 270, 376 } },
  { "process_vm_writev", TO_EPERM, GROUP_PTRACE_OTHER, { 311, 348, 271, 377 } },
  { "ioctl", TO_IOCTL, GROUP_NONE, { 16, 54, 29, 54 } },

  /* Socket families.  socketpair too: the kernel makes both sockets, and loads the family's module,
     before it finds that the family has no pairs.  socketcall has its arguments behind a pointer.
   */
  { "socket", TO_SOCKET, GROUP_NONE, { 41, 359, 198, 281 } },
  { "socketpair", TO_SOCKET, GROUP_NONE, { 53, 360, 199, 288 } },
  { "socketcall", TO_ENOSYS, GROUP_NONE, { -1, 102, -1, -1 } },
};

static enum group group_of (const char *name)
{
  for (int g = GROUP_NONE + 1; g < GROUPS; g++)
    if (str_equal (group_names[g], name))
      return (enum group)g;
  return GROUP_NONE;
}

const char *const *seccomp_baseline_groups (void) { return &group_names[GROUP_NONE + 1]; }

bool seccomp_baseline_group_known (const char *name) { return group_of (name) != GROUP_NONE; }

struct state
{
  struct bpf_asm *a;
  bpf_label at[TARGETS];
  bool open[GROUPS];
};

/* The kernel reads commands, flags and families as 32-bit numbers, so that only the lower half of
   the 64-bit argument is compared: TIOCSTI | 1 << 32 is TIOCSTI.  Both machines are little-endian,
   the lower half comes first.  */
static void load_argument (const struct state *s, unsigned index)
{
  bpf_asm_load (s->a, (uint32_t)(offsetof (struct seccomp_data, args) + index * sizeof (uint64_t)));
}

static void emit_abi (const struct state *s, const struct seccomp_machine *machine,
                      enum seccomp_abi abi)
{
  bpf_asm_load (s->a, offsetof (struct seccomp_data, nr));
  /* As a kernel without x32 answers.  A test for the bit and not for a range: it also catches
     numbers that only look negative.  */
  if (machine->x32 && abi == SECCOMP_ABI_X86_64)
    bpf_asm_if (s->a, BPF_JSET, SECCOMP_X32_BIT, s->at[TO_ENOSYS], BPF_ASM_NEXT);
  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (rows[i].nr[abi] >= 0 && !s->open[rows[i].group])
      bpf_asm_if (s->a, BPF_JEQ, (uint32_t)rows[i].nr[abi], s->at[rows[i].target], BPF_ASM_NEXT);
  bpf_asm_jump (s->a, s->at[TO_PROFILE]);
}

static void emit_flags (const struct state *s, enum target target, uint32_t refused)
{
  bpf_asm_place (s->a, s->at[target]);
  load_argument (s, 0);
  bpf_asm_if (s->a, BPF_JSET, refused, s->at[TO_EPERM], BPF_ASM_NEXT);
  bpf_asm_jump (s->a, s->at[TO_PROFILE]);
}

static void emit_ioctl (const struct state *s)
{
  bpf_asm_place (s->a, s->at[TO_IOCTL]);
  load_argument (s, 1);
  bpf_asm_if (s->a, BPF_JEQ, TIOCSTI, s->at[TO_EPERM], BPF_ASM_NEXT);
  bpf_asm_if (s->a, BPF_JEQ, TIOCLINUX, s->at[TO_EPERM], BPF_ASM_NEXT);
  bpf_asm_jump (s->a, s->at[TO_PROFILE]);
}

/* The errors are those of a kernel built without the family: programs know them and go on.  */
static void emit_socket (const struct state *s)
{
  static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };
  bpf_asm_place (s->a, s->at[TO_SOCKET]);
  load_argument (s, 0);
  for (size_t i = 0; i < ARRAY_SIZE (families); i++)
    bpf_asm_if (s->a, BPF_JEQ, families[i], s->at[TO_PROFILE], BPF_ASM_NEXT);
  bpf_asm_if (s->a, BPF_JEQ, AF_NETLINK, BPF_ASM_NEXT, s->at[TO_EAFNOSUPPORT]);
  load_argument (s, 2);
  bpf_asm_if (s->a, BPF_JEQ, NETLINK_ROUTE, s->at[TO_PROFILE], s->at[TO_EPROTONOSUPPORT]);
}

static void emit_answers (const struct state *s)
{
  static const struct
  {
    enum target target;
    uint32_t action;
  } answers[] = {
    { TO_EPERM, SECCOMP_RET_ERRNO | EPERM },
    { TO_ENOSYS, SECCOMP_RET_ERRNO | ENOSYS },
    { TO_EAFNOSUPPORT, SECCOMP_RET_ERRNO | EAFNOSUPPORT },
    { TO_EPROTONOSUPPORT, SECCOMP_RET_ERRNO | EPROTONOSUPPORT },
    { TO_KILL, SECCOMP_RET_KILL_PROCESS },
  };
  for (size_t i = 0; i < ARRAY_SIZE (answers); i++)
    {
      bpf_asm_place (s->a, s->at[answers[i].target]);
      bpf_asm_return (s->a, answers[i].action);
    }
}

static int open_groups (struct state *s, char *const *allowed, size_t allowed_len,
                        struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  for (size_t i = 0; i < allowed_len; i++)
    {
      enum group group = group_of (allowed[i]);
      if (group == GROUP_NONE)
        return error_set (err, -EINVAL, "seccomp: no group \"%s\" that a grant can open",
                          str_quote (allowed[i], quoted));
      s->open[group] = true;
    }
  return 0;
}

int seccomp_baseline_emit (struct bpf_asm *a, const struct seccomp_machine *machine,
                           char *const *allowed, size_t allowed_len, struct error *err)
{
  struct state s = { .a = a };
  int r = open_groups (&s, allowed, allowed_len, err);
  if (r < 0)
    return r;
  for (int target = TO_NEXT + 1; target < TARGETS; target++)
    s.at[target] = bpf_asm_label (a);

  /* Numbers and architecture first and alone: the kernel then sees which calls are always allowed
     and does not run the program for them (since Linux 5.11).  */
  bpf_label companion = bpf_asm_label (a);
  bpf_asm_load (a, offsetof (struct seccomp_data, arch));
  bpf_asm_if (a, BPF_JEQ, seccomp_abi_audit[machine->abis[1]], companion, BPF_ASM_NEXT);
  bpf_asm_if (a, BPF_JEQ, seccomp_abi_audit[machine->abis[0]], BPF_ASM_NEXT, s.at[TO_KILL]);
  emit_abi (&s, machine, machine->abis[0]);
  bpf_asm_place (a, companion);
  emit_abi (&s, machine, machine->abis[1]);

  emit_ioctl (&s);
  emit_socket (&s);
  if (!s.open[GROUP_USERNS])
    emit_flags (&s, TO_CLONE, CLONE_NEW_ANY);
  /* Only here: clone(2) has the exit signal in the bits of CLONE_NEWTIME.  */
  emit_flags (&s, TO_UNSHARE, CLONE_NEWTIME | (s.open[GROUP_USERNS] ? 0 : CLONE_NEW_ANY));
  emit_answers (&s);
  bpf_asm_place (a, s.at[TO_PROFILE]);
  return 0;
}
