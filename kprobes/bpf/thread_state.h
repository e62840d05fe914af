// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// What is known of a followed thread between two events of its own. It stands in a table, in the slot that the thread's address
// gives, which is found in a fifth of the time that the kernel's task storage takes; where that slot is another one's, in there.
#pragma once

#include "kprobes/bpf/tasks.h"

enum { kNested = 4 };  // file operations inside each other

// A file operation that is under way.
struct operation {
  __u64 frame;  // where on the thread's stack it began: what lies inside it is below
  __u64 number, begin_ns, file, inode, offset, requested;
  __u64 control;  // the kiocb, if the operation may complete later; 0: it does not
  __u32 device, op, flags;
  __u32 dirtied;    // pages of regular files that it made dirty (bpf/dirty.h)
  bool is_silent;   // no record: what it lies in is the same operation on the same open file, or nobody wants it
  bool is_unnoted;  // it may complete later, and there was no room to find it again then (bpf/file_done.h)
};

// By what the thread's next file operation may be told short (shared.h): its last whole record, and the number of the last one
// told. Of operations that lie in no other.
struct told_operation {
  __u64 whole_ns, inode;  // whole_ns: when it was over; 0: there is none
  __u64 number;
  __u32 device, cpu;
};

struct thread_state {
  __u32 tid;    // as the thread had it when this was made
  __u32 depth;  // of the operations under way, the outermost first
  __u64 on_ns, off_ns;
  __u64 throttled_ns;  // when it was told to sleep because too many pages are dirty, and has not since; 0: it was not
  __u32 state, flags;
  bool submitting;   // queued a bio that has found no request yet
  __u64 number;      // of its last operation; 0: it has had none
  __u64 noted_file;  // whose own function has been noted (bpf/file_op.h)
  struct told_operation told;
  struct operation operations[kNested];
};

// A thread has its slot from its first event on until the kernel frees it. One that executes a program may have another number from
// then on, and begins anew; the address of one that is gone is used again with another number.
struct thread_slot {
  __u64 task;  // 0: nobody's, and its state is empty
  struct thread_state state;
};
enum { kSlotBits = 10 };
static struct thread_slot thread_slots[1 << kSlotBits];

// Of those whose slot is another one's.
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");
bool has_stored_threads;

// The difference of two pointers is a number; with a pointer itself the verifier allows no arithmetic.
static __always_inline struct thread_slot *slot_of(const struct task_struct *task) {
  __u64 number = (__u64)task;
  asm volatile("%0 -= %1" : "+r"(number) : "r"(thread_slots));
  struct thread_slot *slot = &thread_slots[number * 0x9e3779b97f4a7c15 >> (64 - kSlotBits)];
  asm volatile("" : "+r"(slot));  // or the compiler finds it again and again
  return slot;
}

static __always_inline bool has_slot(const struct task_struct *task, const struct thread_slot *slot) {
  return slot->task == (__u64)task && slot->state.tid == (__u32)task->pid;
}

// Operations are none of it: what is known of one is written when it begins.
static __always_inline void forget_all(struct thread_state *thread) {
  __builtin_memset(thread, 0, __builtin_offsetof(struct thread_state, operations));
}

static __always_inline void begin_anew(struct thread_state *thread, const struct task_struct *task) {
  forget_all(thread);
  thread->tid = task->pid;
}

static __always_inline struct thread_state *stored_thread(struct task_struct *task, __u64 flags) {
  struct thread_state *thread = bpf_task_storage_get(&threads, task, 0, flags);
  if (thread && thread->tid != (__u32)task->pid) begin_anew(thread, task);
  return thread;
}

// NULL: nothing is known of it.
static __always_inline struct thread_state *thread_of(struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (has_slot(task, slot)) return &slot->state;
  return has_stored_threads ? stored_thread(task, 0) : 0;
}

// For its end of an operation: a slot with one under way is the thread's that has begun it.
static __always_inline struct thread_state *thread_in_operation(struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (slot->task == (__u64)task && slot->state.depth) return &slot->state;
  return has_stored_threads ? stored_thread(task, 0) : 0;
}

// Any two instructions of this may have the thread's switch to another one between them, which comes here as well: each finds what
// the other has made. NULL: there is no memory.
static __always_inline struct thread_state *thread_made_for(struct task_struct *task) {
  struct thread_state *thread = thread_of(task);
  if (thread) return thread;
  struct thread_slot *slot = slot_of(task);
  __u64 owner = __sync_val_compare_and_swap(&slot->task, 0, (__u64)task);
  if (!owner || owner == (__u64)task) {
    if (owner) begin_anew(&slot->state, task);
    slot->state.tid = task->pid;
    return &slot->state;
  }
  has_stored_threads = true;
  thread = stored_thread(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return has_slot(task, slot) ? &slot->state : thread;
}

// Requires: it will not run any more.
static __always_inline void forget_thread(const struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (slot->task != (__u64)task) return;
  forget_all(&slot->state);
  asm volatile("" ::: "memory");
  slot->task = 0;
}

// The compiler would take a mask away that it finds needless, and the verifier does not see why it was.
static __always_inline struct operation *operation_at(struct thread_state *thread, __u64 index) {
  asm volatile("" : "+r"(index));
  struct operation *operation = &thread->operations[index & (kNested - 1)];
  asm volatile("" : "+r"(operation));
  return operation;
}

// 0: none that gets a record.
static __always_inline __u64 outermost_operation(const struct thread_state *thread) {
  return thread->depth && !thread->operations[0].is_silent ? thread->operations[0].number : 0;
}

static __always_inline int set_submitting(bool submitting) {
  struct task_struct *task = bpf_get_current_task_btf();
  struct thread_state *thread = submitting ? thread_made_for(task) : thread_of(task);
  if (thread) thread->submitting = submitting;
  return 0;
}
