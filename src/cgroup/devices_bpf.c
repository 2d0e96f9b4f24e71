/* SPDX-License-Identifier: Apache-2.0 */
/* The device filter of cgroup v2: a program that the kernel asks at each open and mknod of a
   device.  Assembled by hand, there is no compiler at run time.  Runs in the parent; needs
   CAP_SYS_ADMIN or CAP_BPF with CAP_NET_ADMIN.  bpf(2), the kernel's cgroup-v2.rst "Device
   controller".  */
#include "cgroup/internal.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* By this name a later call finds what an earlier one attached.  */
#define PROGRAM_NAME   "agentrun_dev"
#define ATTACHED_MAX   64
#define INSNS_PER_RULE 11
#define INSNS_AROUND   7
#define LOG_SIZE       4096

#define INSN(c, d, s, o, i)                                                                        \
  ((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define LOAD32(dst, src, off)  INSN (BPF_LDX | BPF_MEM | BPF_W, dst, src, off, 0)
#define MOV(dst, src)          INSN (BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOV_IMM(dst, imm)      INSN (BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define AND_IMM(dst, imm)      INSN (BPF_ALU | BPF_AND | BPF_K, dst, 0, 0, imm)
#define SHIFT_RIGHT(dst, imm)  INSN (BPF_ALU | BPF_RSH | BPF_K, dst, 0, 0, imm)
#define JUMP(off)              INSN (BPF_JMP | BPF_JA, 0, 0, off, 0)
#define JUMP_NE(dst, imm, off) INSN (BPF_JMP32 | BPF_JNE | BPF_K, dst, 0, off, imm)
#define JUMP_EQ(dst, imm, off) INSN (BPF_JMP32 | BPF_JEQ | BPF_K, dst, 0, off, imm)
#define EXIT                   INSN (BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* What the registers hold.  ASKED loses a bit with each rule that allows it.  */
enum
{
  RESULT = BPF_REG_0,
  CONTEXT = BPF_REG_1,
  ASKED = BPF_REG_2,
  TYPE = BPF_REG_3,
  MAJOR = BPF_REG_4,
  MINOR = BPF_REG_5,
  SCRATCH = BPF_REG_6
};

struct assembler
{
  struct bpf_insn *insns;
  size_t len;
};

static void emit (struct assembler *a, struct bpf_insn insn) { a->insns[a->len++] = insn; }

static void emit_start (struct assembler *a)
{
  emit (a, LOAD32 (TYPE, CONTEXT, offsetof (struct bpf_cgroup_dev_ctx, access_type)));
  emit (a, MOV (ASKED, TYPE));
  emit (a, AND_IMM (TYPE, 0xffff));
  emit (a, SHIFT_RIGHT (ASKED, 16));
  emit (a, LOAD32 (MAJOR, CONTEXT, offsetof (struct bpf_cgroup_dev_ctx, major)));
  emit (a, LOAD32 (MINOR, CONTEXT, offsetof (struct bpf_cgroup_dev_ctx, minor)));
}

/* The rule's conditions jump over its verdict, whose length is known: an allowing one has four
   instructions, a denying one five.  A jump if not equal would do with one instruction a condition,
   but the verifier follows the way without a jump first: it must be the one on which it knows
   least, or it visits the rest of the program once for each number in the rules and gives up.  */
static void emit_rule (struct assembler *a, const struct device_rule *rule)
{
  const struct
  {
    bool has;
    uint8_t reg;
    int32_t value;
  } conditions[] = {
    { rule->type != 'a', TYPE, rule->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR },
    { rule->major != DEVICE_ANY, MAJOR, rule->major },
    { rule->minor != DEVICE_ANY, MINOR, rule->minor },
  };
  size_t verdict = rule->allow ? 4 : 5;
  size_t left = 0;

  for (size_t i = 0; i < 3; i++)
    left += conditions[i].has;
  for (size_t i = 0; i < 3; i++)
    if (conditions[i].has)
      {
        left--;
        emit (a, JUMP_EQ (conditions[i].reg, conditions[i].value, 1));
        emit (a, JUMP ((int16_t)(2 * left + verdict)));
      }
  if (rule->allow)
    {
      emit (a, AND_IMM (ASKED, (int32_t)~rule->access));
      emit (a, JUMP_NE (ASKED, 0, 2));
      emit (a, MOV_IMM (RESULT, 1));
    }
  else
    {
      emit (a, MOV (SCRATCH, ASKED));
      emit (a, AND_IMM (SCRATCH, (int32_t)rule->access));
      emit (a, JUMP_EQ (SCRATCH, 0, 2));
      emit (a, MOV_IMM (RESULT, 0));
    }
  emit (a, EXIT);
}

int devices_bpf_assemble (const struct device_rule *rules, size_t n, struct bpf_insn **ret,
                          size_t *ret_len, struct error *err)
{
  struct assembler a = { .insns = calloc (n * INSNS_PER_RULE + INSNS_AROUND + 1,
                                          sizeof (struct bpf_insn)) };

  if (a.insns == NULL)
    return error_errno (err, ENOMEM, "linux.resources.devices");
  emit_start (&a);
  /* Backwards: the last rule that speaks of an access decides it.  */
  for (size_t i = n; i-- > 0;)
    emit_rule (&a, &rules[i]);
  emit (&a, MOV_IMM (RESULT, 0));
  emit (&a, EXIT);
  *ret = a.insns;
  *ret_len = a.len;
  return 0;
}

/* ---- the kernel */

static int sys_bpf (int command, union bpf_attr *attr)
{
  long r = syscall (SYS_bpf, command, attr, sizeof (*attr));

  return r < 0 ? -errno : (int)r;
}

int devices_bpf_load (const struct bpf_insn *insns, size_t len, int *ret_fd, struct error *err)
{
  cleanup_free char *log = calloc (1, LOG_SIZE);
  union bpf_attr attr = {
    .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
    .insns = (uint64_t)(uintptr_t)insns,
    .insn_cnt = (uint32_t)len,
    .license = (uint64_t)(uintptr_t) "Apache-2.0",
    .expected_attach_type = BPF_CGROUP_DEVICE,
  };
  int fd;

  memcpy (attr.prog_name, PROGRAM_NAME, sizeof (PROGRAM_NAME));
  fd = sys_bpf (BPF_PROG_LOAD, &attr);
  if (fd < 0 && log != NULL && (fd == -EINVAL || fd == -EACCES))
    {
      /* Once more for the verifier's reason; its last line says it.  */
      attr.log_level = 1;
      attr.log_size = LOG_SIZE;
      attr.log_buf = (uint64_t)(uintptr_t)log;
      fd = sys_bpf (BPF_PROG_LOAD, &attr);
    }
  if (fd < 0)
    {
      if (log != NULL)
        log[strcspn (log, "\n")] = '\0';
      return error_errno (err, -fd,
                          "linux.resources.devices: load the device filter (%zu instructions)%s%s",
                          len, log != NULL && log[0] != '\0' ? ", " : "", log != NULL ? log : "");
    }
  *ret_fd = fd;
  return 0;
}

/* Whether the program FD is one of ours.  */
static bool is_ours (int fd)
{
  struct bpf_prog_info info = { 0 };
  union bpf_attr attr = { .info = {
                              .bpf_fd = (uint32_t)fd,
                              .info_len = sizeof (info),
                              .info = (uint64_t)(uintptr_t)&info,
                          } };

  return sys_bpf (BPF_OBJ_GET_INFO_BY_FD, &attr) >= 0 && strcmp (info.name, PROGRAM_NAME) == 0;
}

/* Opens what an earlier call attached: -1 when there is none.  */
static int find_attached (const struct cgroup_dir *dir, int *ret_fd, struct error *err)
{
  uint32_t ids[ATTACHED_MAX];
  union bpf_attr query = { .query = {
                               .target_fd = (uint32_t)dir->fd,
                               .attach_type = BPF_CGROUP_DEVICE,
                               .prog_ids = (uint64_t)(uintptr_t)ids,
                               .prog_cnt = ATTACHED_MAX,
                           } };
  int r = sys_bpf (BPF_PROG_QUERY, &query);

  if (r < 0)
    return error_errno (err, -r, "linux.resources.devices: list the device filters of %s",
                        dir->path);
  *ret_fd = -1;
  for (uint32_t i = 0; i < query.query.prog_cnt && i < ATTACHED_MAX; i++)
    {
      union bpf_attr by_id = { .prog_id = ids[i] };
      cleanup_close int fd = sys_bpf (BPF_PROG_GET_FD_BY_ID, &by_id);
      if (fd >= 0 && is_ours (fd))
        {
          *ret_fd = steal_fd (&fd);
          return 0;
        }
    }
  return 0;
}

int devices_bpf_apply (const struct cgroup_dir *dir, const struct device_rule *rules, size_t n,
                       struct error *err)
{
  cleanup_free struct bpf_insn *insns = NULL;
  cleanup_close int program = -1;
  cleanup_close int earlier = -1;
  size_t len;
  int r = devices_bpf_assemble (rules, n, &insns, &len, err);

  if (r >= 0)
    r = devices_bpf_load (insns, len, &program, err);
  if (r >= 0)
    r = find_attached (dir, &earlier, err);
  if (r < 0)
    return r;

  /* Others' programs (a service manager's) stay, and all must allow.  Ours is exchanged in one
     step: there is no moment without a filter.  */
  union bpf_attr attach = {
    .target_fd = (uint32_t)dir->fd,
    .attach_bpf_fd = (uint32_t)program,
    .attach_type = BPF_CGROUP_DEVICE,
    .attach_flags = BPF_F_ALLOW_MULTI,
  };
  if (earlier >= 0)
    {
      attach.attach_flags |= BPF_F_REPLACE;
      attach.replace_bpf_fd = (uint32_t)earlier;
    }
  r = sys_bpf (BPF_PROG_ATTACH, &attach);
  if (r < 0)
    return error_errno (err, -r, "linux.resources.devices: attach the device filter to %s",
                        dir->path);
  return 0;
}
