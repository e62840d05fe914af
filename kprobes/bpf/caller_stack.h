// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Copies the stack of a thread whose call has just returned. Libraries are built without frame pointers, so the stack
// is walked later, with the unwind tables of the mapped files.
#pragma once

#include "kprobes/bpf/ring.h"

// `returns_to`: the call's return address. At the return, the callee-saved registers have the caller's values. A page
// that cannot be read gets no record: it was never touched (large local arrays), or the stack has ended before it.
static __always_inline void emit_stack(struct pt_regs *registers, __u64 returns_to, __u64 end_ns) {
  __u64 address = registers->sp;
  // Half of the ring is kept for the records of calls, which matter more than stacks.
  if (is_half_full()) {
    count_loss(MLRUN_KERNEL_STACK, MLRUN_KERNEL_LOSS_RING);
    return;
  }
  // 64 bits: before 5.16 the verifier loses the bounds of a 32-bit number on the stack.
  for (__u64 i = 0; i < MLRUN_STACK_PARTS; i++) {
    struct mlrun_stack_part *part = RESERVE(mlrun_stack_part, MLRUN_KERNEL_STACK);
    if (!part) return;
    __u32 bytes = MLRUN_STACK_PART_BYTES - (address & (MLRUN_STACK_PART_BYTES - 1));
    __u64 begin = address;
    address += bytes;
    if (bpf_probe_read_user(part->stack, bytes, (void *)begin) != 0) {
      bpf_ringbuf_discard(part, BPF_RB_NO_WAKEUP);
      continue;
    }
    part->head = make_head(MLRUN_KERNEL_STACK, sizeof *part, end_ns, current_pid_tid());
    part->address = begin;
    part->registers[MLRUN_STACK_PC] = returns_to;
    part->registers[MLRUN_STACK_SP] = registers->sp;
    part->registers[MLRUN_STACK_BP] = registers->bp;
    part->registers[MLRUN_STACK_BX] = registers->bx;
    part->registers[MLRUN_STACK_R12] = registers->r12;
    part->registers[MLRUN_STACK_R13] = registers->r13;
    part->registers[MLRUN_STACK_R14] = registers->r14;
    part->registers[MLRUN_STACK_R15] = registers->r15;
    part->bytes = bytes;
    part->spare = 0;
    submit(part);
  }
}
