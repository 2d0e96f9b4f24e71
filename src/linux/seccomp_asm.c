/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler of seccomp_asm.h.  Runs in the parent; pure code.  */
#include "linux/seccomp_asm.h"

#include <errno.h>

bpf_label bpf_asm_label (struct bpf_asm *a)
{
  if (a->labels + 1 >= BPF_ASM_LABELS_MAX)
    {
      a->full = true;
      return BPF_ASM_NEXT;
    }
  return (bpf_label)++a->labels;
}

void bpf_asm_place (struct bpf_asm *a, bpf_label label) { a->places[label] = (int)a->len + 1; }

static void add (struct bpf_asm *a, struct sock_filter insn, bpf_label on_true, bpf_label on_false)
{
  if (a->len == BPF_ASM_INSNS_MAX)
    {
      a->full = true;
      return;
    }
  a->insns[a->len] = insn;
  a->on_true[a->len] = on_true;
  a->on_false[a->len] = on_false;
  a->len++;
}

void bpf_asm_load (struct bpf_asm *a, uint32_t offset)
{
  add (a, (struct sock_filter)BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offset), BPF_ASM_NEXT,
       BPF_ASM_NEXT);
}

void bpf_asm_if (struct bpf_asm *a, uint16_t condition, uint32_t k, bpf_label on_true,
                 bpf_label on_false)
{
  add (a, (struct sock_filter)BPF_STMT ((uint16_t)(BPF_JMP | condition | BPF_K), k), on_true,
       on_false);
}

void bpf_asm_jump (struct bpf_asm *a, bpf_label label)
{
  add (a, (struct sock_filter)BPF_STMT (BPF_JMP | BPF_JA, 0), label, BPF_ASM_NEXT);
}

void bpf_asm_return (struct bpf_asm *a, uint32_t action)
{
  add (a, (struct sock_filter)BPF_STMT (BPF_RET | BPF_K, action), BPF_ASM_NEXT, BPF_ASM_NEXT);
}

static int distance (const struct bpf_asm *a, size_t from, bpf_label label, size_t max,
                     uint32_t *ret, struct error *err)
{
  if (label == BPF_ASM_NEXT)
    {
      *ret = 0;
      return 0;
    }
  int place = a->places[label];
  if (place == 0 || (size_t)place - 1 <= from)
    return error_set (err, -EINVAL, "seccomp: label %u of instruction %zu lies nowhere ahead",
                      label, from);
  size_t skipped = (size_t)place - 1 - (from + 1);
  if (skipped > max)
    return error_set (err, -E2BIG, "seccomp: jump of %zu instructions, more than %zu", skipped,
                      max);
  *ret = (uint32_t)skipped;
  return 0;
}

int bpf_asm_link (struct bpf_asm *a, struct error *err)
{
  if (a->full)
    return error_set (err, -E2BIG, "seccomp: more than %d instructions or %d labels",
                      BPF_ASM_INSNS_MAX, BPF_ASM_LABELS_MAX);
  for (size_t i = 0; i < a->len; i++)
    {
      struct sock_filter *insn = &a->insns[i];
      uint32_t on_true, on_false;
      bool always = insn->code == (BPF_JMP | BPF_JA);
      if (BPF_CLASS (insn->code) != BPF_JMP)
        continue;
      int r = distance (a, i, a->on_true[i], always ? UINT32_MAX : UINT8_MAX, &on_true, err);
      if (r == 0)
        r = distance (a, i, a->on_false[i], UINT8_MAX, &on_false, err);
      if (r < 0)
        return r;
      if (always)
        insn->k = on_true;
      else
        {
          insn->jt = (uint8_t)on_true;
          insn->jf = (uint8_t)on_false;
        }
    }
  return 0;
}
