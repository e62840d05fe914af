// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Reads and writes that return before they are complete: Linux's asynchronous I/O and io_uring. On completion the
// kernel calls a function of the submitter (aio, io_uring), in an interrupt, in a worker or, even before the submission
// has returned, in the submitting thread.
//
// A file system may make io_uring wait for a read through the page cache. io_uring then repeats the read with the same
// kiocb. The repetition is recorded as another operation; the first one ends with EAGAIN and has moved no bytes.
#pragma once

#include "kprobes/bpf/thread_state.h"

enum { kQueued = 529, kAgain = 11 };  // EIOCBQUEUED, EAGAIN

struct handed_in {
  __u64 number, pid_tid, offset;
  __u32 returned, direct;  // wide enough that no padding is left uninitialised (bpf/request.h)
};

// Operations in flight, by the address of their kiocb. If a completion is missed, its entry stays until the address is
// reused.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, struct handed_in);
} handed_ins SEC(".maps");

static __always_inline void emit_done(const struct handed_in *handed_in, __s64 result) {
  __u64 time_ns = now_ns();
  struct mlrun_file_done *record = RESERVE(mlrun_file_done, MLRUN_KERNEL_FILE_DONE);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_FILE_DONE, sizeof *record, time_ns, handed_in->pid_tid);
  record->operation = handed_in->number;
  record->result = result;
  submit(record);
}

// Called before the operation begins: it may complete at once, on another processor. depth: number of enclosing
// operations. A nested operation is skipped: its kiocb belongs to the file system and never reaches emit_completion.
static __always_inline void note_handed_in(struct operation *operation, __u32 depth) {
  operation->is_unnoted = false;
  if (depth) return;
  __u64 key = operation->control;
  struct handed_in *known = bpf_map_lookup_elem(&handed_ins, &key);
  bool is_again = known && known->returned && !known->direct && known->offset == operation->offset;
  if (is_again) emit_done(known, -kAgain);
  struct handed_in handed_in = {};
  handed_in.number = operation->number;
  handed_in.pid_tid = current_pid_tid();
  handed_in.offset = operation->offset;
  handed_in.direct = !!(operation->flags & MLRUN_FILE_DIRECT);
  operation->is_unnoted = bpf_map_update_elem(&handed_ins, &key, &handed_in, BPF_ANY) != 0;
}

// Called when the submission returns. An operation that completes by its return needs no second record. If it completed
// earlier, the kiocb may already belong to another operation.
static __always_inline void note_returned(const struct operation *operation, __s64 result) {
  __u64 key = operation->control;
  if (operation->is_unnoted && result == -kQueued) count_loss(MLRUN_KERNEL_FILE_DONE, MLRUN_KERNEL_LOSS_MAP);
  struct handed_in *known = bpf_map_lookup_elem(&handed_ins, &key);
  if (!known || known->number != operation->number) return;
  if (result == -kQueued)
    known->returned = true;
  else
    bpf_map_delete_elem(&handed_ins, &key);
}

static __always_inline int emit_completion(__u64 control, __u64 result) {
  struct handed_in *known = bpf_map_lookup_elem(&handed_ins, &control);
  if (!known) return 0;
  emit_done(known, (__s64)result);
  bpf_map_delete_elem(&handed_ins, &control);
  return 0;
}
