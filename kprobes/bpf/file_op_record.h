// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Writes the records of completed file operations: a short record (shared.h) if the thread's last whole record contains
// the omitted fields, otherwise a whole one.
#pragma once

#include "kprobes/bpf/file_done.h"

enum { kThreadOfNumber = (1 << MLRUN_OPERATION_STEP_SHIFT) - 1 };
const __u64 kNoOffset = ~0ull;

bool sees_dirtying;  // on_dirty_folio or on_dirty_page is attached

static __always_inline void put_whole(struct thread_state *thread, const struct operation *operation, __u32 depth,
                                      __s64 result, __u64 end_ns) {
  struct emitted_operation *emitted = &thread->emitted;
  if (!depth) emitted->whole_ns = 0;
  struct mlrun_file_op *record = RESERVE(mlrun_file_op, MLRUN_KERNEL_FILE_OP);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_FILE_OP, sizeof *record, end_ns, current_pid_tid());
  record->begin_ns = operation->begin_ns;
  record->operation = operation->number;
  record->outer = depth ? outermost_operation(thread) : 0;
  record->inode = operation->inode;
  record->offset = operation->offset;
  record->requested = operation->requested;
  record->result = result;
  record->device = operation->device;
  record->op = operation->op;
  record->flags = operation->flags;
  record->depth = depth;
  record->dirty_pages =
      sees_dirtying && operation->dirtied < MLRUN_DIRTY_PAGES_UNKNOWN ? operation->dirtied : MLRUN_DIRTY_PAGES_UNKNOWN;
  if (!depth) {
    emitted->whole_ns = end_ns;
    emitted->inode = operation->inode;
    emitted->number = operation->number;
    emitted->device = operation->device;
    emitted->cpu = record->head.cpu;
  }
  submit(record);
}

// True: the thread's last whole record contains the fields that a short record of this operation omits.
static __always_inline bool is_as_emitted(const struct emitted_operation *emitted, const struct operation *operation,
                                          __u64 end_ns) {
  return end_ns - emitted->whole_ns < MLRUN_SHORT_FOR_NS && emitted->inode == operation->inode &&
         emitted->device == operation->device && emitted->cpu == bpf_get_smp_processor_id();
}

// False: it does not fit into a short record, or the thread has no whole record to refer to.
static __always_inline bool put_short(struct emitted_operation *emitted, const struct operation *operation,
                                      __s64 result, __u64 end_ns) {
  if (operation->dirtied || !is_as_emitted(emitted, operation, end_ns)) return false;
  // A short record requires the same thread in both numbers (an exec may change a thread's id) and at most 255 steps.
  __u64 steps = operation->number - emitted->number;
  if (steps & ~((__u64)(__u8)-1 << MLRUN_OPERATION_STEP_SHIFT)) return false;
  __u64 duration_ns = end_ns - operation->begin_ns, requested = operation->requested;
  __u64 rest = requested - (__u64)result, offset = operation->offset;
  // If these fit into their fields, so does `result`. Unknown offsets fit too: kNoOffset + 1 is 0.
  bool is_too_much = (duration_ns | requested) >> 31 | rest >> (64 - MLRUN_SHORT_OFFSET_BITS) |
                     (offset + 1) >> MLRUN_SHORT_OFFSET_BITS;
  if (is_too_much) return false;
  struct mlrun_short_file_op *record = reserve(sizeof *record);
  if (!record) {
    count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_RING);
    return true;
  }
  // Writes the fields `kind`, `op`, `flags` and `step` as one word; `steps` already is at the bits of `step`.
  *(__u32 *)record = MLRUN_SHORT_FILE_OP | operation->op << 8 | operation->flags << 16 | steps;
  record->tid = operation->number & kThreadOfNumber;
  record->time_ns = end_ns;
  record->duration_ns = duration_ns;
  record->result = result;
  record->offset_and_rest = (offset & MLRUN_SHORT_NO_OFFSET) | rest << MLRUN_SHORT_OFFSET_BITS;
  emitted->number = operation->number;
  submit(record);
  return true;
}

// depth: number of enclosing operations.
static __always_inline void emit_operation(struct thread_state *thread, struct operation *operation, __u32 depth,
                                           __s64 result, __u64 end_ns) {
  if (operation->control) operation->flags |= MLRUN_FILE_ASYNC;
  if (result == -kQueued) {
    operation->flags |= MLRUN_FILE_LATER;
    result = 0;
  }
  if (depth || !put_short(&thread->emitted, operation, result, end_ns))
    put_whole(thread, operation, depth, result, end_ns);
}
