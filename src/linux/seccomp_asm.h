/* SPDX-License-Identifier: Apache-2.0 */
/* A small assembler for seccomp programs (classic BPF,
   Documentation/userspace-api/seccomp_filter.rst in the kernel): instructions with labels in place
   of counted offsets.  Runs in the parent; needs no privilege and allocates nothing.  */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BPF_ASM_INSNS_MAX  512
#define BPF_ASM_LABELS_MAX 128

/* A place in the program.  0 means "the next instruction", so a label comes from bpf_asm_label.  */
typedef uint8_t bpf_label;
#define BPF_ASM_NEXT ((bpf_label)0)

/* Zero-initialise.  What does not fit is remembered and reported by bpf_asm_link: no call in
   between needs a check.  */
struct bpf_asm
{
  struct sock_filter insns[BPF_ASM_INSNS_MAX];
  bpf_label on_true[BPF_ASM_INSNS_MAX];
  bpf_label on_false[BPF_ASM_INSNS_MAX];
  size_t len;
  int places[BPF_ASM_LABELS_MAX]; /* 1 + the instruction's index, 0 while not placed */
  unsigned labels;
  bool full;
};

bpf_label bpf_asm_label (struct bpf_asm *);

/* The next instruction is where jumps to LABEL go.  */
void bpf_asm_place (struct bpf_asm *, bpf_label label);

/* Loads the 32-bit word at OFFSET of struct seccomp_data into the accumulator.  */
void bpf_asm_load (struct bpf_asm *, uint32_t offset);

/* Compares the accumulator with K; CONDITION is BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET.  */
void bpf_asm_if (struct bpf_asm *, uint16_t condition, uint32_t k, bpf_label on_true,
                 bpf_label on_false);
void bpf_asm_jump (struct bpf_asm *, bpf_label);
void bpf_asm_return (struct bpf_asm *, uint32_t action);

/* Turns labels into offsets.  -E2BIG if a jump or the program is too long, -EINVAL for a label that
   was never placed: both are mistakes in this program, not in its input.  */
int bpf_asm_link (struct bpf_asm *, struct error *err);
