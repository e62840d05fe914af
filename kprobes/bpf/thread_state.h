// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// What is known of a followed thread between two events of its own, in its task storage.
#pragma once

#include "kprobes/bpf/tasks.h"

enum { kNested = 4 };  // file operations inside each other

// A file operation that is under way.
struct operation {
  __u64 frame;  // where on the thread's stack it began: what lies inside it is below
  __u64 number, begin_ns, file, inode, offset, requested;
  __u64 control;  // the kiocb, if the operation may complete later; 0: it does not
  __u32 device, op, flags;
  __u32 dirtied;   // pages of regular files that it made dirty (bpf/dirty.h)
  bool is_silent;  // no record: what it lies in is the same operation on the same open file, or nobody wants it
};

// By what the thread's next file operation may be told short (shared.h): its last whole record, and the number of the last one
// told. Of operations that lie in no other.
struct told_operation {
  __u64 whole_ns, inode;  // whole_ns: when it was over; 0: there is none
  __u64 number;
  __u32 device, cpu;
};

struct thread_state {
  __u64 on_ns, off_ns;
  __u64 throttled_ns;  // when it was told to sleep because too many pages are dirty, and has not since; 0: it was not
  __u32 state, flags;
  bool submitting;  // queued a bio that has found no request yet
  __u32 depth;      // of the operations under way, the outermost first
  __u64 numbers;
  struct told_operation told;
  struct operation operations[kNested];
};
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");

// The compiler would take a mask away that it finds needless, and the verifier does not see why it was.
static __always_inline struct operation *operation_at(struct thread_state *thread, __u64 index) {
  asm volatile("" : "+r"(index));
  return &thread->operations[index & (kNested - 1)];
}

// 0: none that gets a record.
static __always_inline __u64 outermost_operation(const struct thread_state *thread) {
  return thread->depth && !thread->operations[0].is_silent ? thread->operations[0].number : 0;
}

static __always_inline int set_submitting(bool submitting) {
  __u64 create = submitting ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0;
  struct thread_state *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, create);
  if (thread) thread->submitting = submitting;
  return 0;
}
