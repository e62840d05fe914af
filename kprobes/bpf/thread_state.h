// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The state that the BPF programs keep for each traced thread. It is in a table, in the slot given by the hash of the
// task's address, which takes a fifth of the time of the kernel's task storage. If another thread has that slot, the
// state is in task storage.
#pragma once

#include "kprobes/bpf/tasks.h"

enum { kNested = 4 };  // nested file operations

// A file operation in progress.
struct operation {
  __u64 frame;  // address on the thread's kernel stack where it began: nested operations have lower ones
  __u64 number, begin_ns, file, inode, offset, requested;
  __u64 control;  // the kiocb, if the operation may complete after its return; 0: it may not
  __u32 device, op, flags;
  __u32 dirtied;       // pages of regular files that it made dirty (bpf/dirty.h)
  bool is_unrecorded;  // no record: in an equal operation on the same open file, or on a pipe, proc, ...
  bool is_unnoted;     // it may complete after its return, but the map handed_ins was full (bpf/file_done.h)
};

// The reference for the thread's next short record (shared.h): its last whole record, and the number of the last
// recorded operation. Outermost operations only.
struct emitted_operation {
  __u64 whole_ns, inode;  // whole_ns: end of the last whole record; 0: there is none
  __u64 number;
  __u32 device, cpu;
};

struct thread_state {
  __u32 tid;    // at the creation of this state
  __u32 depth;  // number of operations in progress, the outermost first
  __u64 on_ns, off_ns;
  __u64 throttled_ns;  // when the kernel asked it to sleep, for too many dirty pages; 0: never since its last sleep
  __u32 state, flags;
  bool submitting;   // it has queued a bio that has no request yet
  __u64 number;      // of its last operation; 0: it has had none
  __u64 noted_file;  // the open file whose function was noted last (note_own_function in bpf/file_op.h)
  struct emitted_operation emitted;
  struct operation operations[kNested];
};

// A thread keeps its slot from its first event until the kernel frees it. After an exec it may have another id, and the
// state starts from scratch; the address of a freed task is reused with another id.
struct thread_slot {
  __u64 task;  // 0: free, and its state is empty
  struct thread_state state;
};
enum { kSlotBits = 10 };
static struct thread_slot thread_slots[1 << kSlotBits];

// For threads whose slot is occupied.
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");
bool has_stored_threads;

// A difference of two pointers is a number; the verifier allows no arithmetic on a pointer.
static __always_inline struct thread_slot *slot_of(const struct task_struct *task) {
  __u64 number = (__u64)task;
  asm volatile("%0 -= %1" : "+r"(number) : "r"(thread_slots));
  struct thread_slot *slot = &thread_slots[number * 0x9e3779b97f4a7c15 >> (64 - kSlotBits)];
  asm volatile("" : "+r"(slot));  // or the compiler computes it repeatedly
  return slot;
}

static __always_inline bool has_slot(const struct task_struct *task, const struct thread_slot *slot) {
  return slot->task == (__u64)task && slot->state.tid == (__u32)task->pid;
}

// Clears all but `operations`: an operation's fields are all written when it begins.
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

// NULL: the thread has no state.
static __always_inline struct thread_state *thread_of(struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (has_slot(task, slot)) return &slot->state;
  return has_stored_threads ? stored_thread(task, 0) : 0;
}

// thread_of for the end of an operation. The id need not be compared: only a thread in an operation has depth > 0.
static __always_inline struct thread_state *thread_in_operation(struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (slot->task == (__u64)task && slot->state.depth) return &slot->state;
  return has_stored_threads ? stored_thread(task, 0) : 0;
}

// The thread's state, created if it has none; NULL: out of memory. Between any two instructions an event (a task
// switch) may interrupt the thread and run this function for the same task: each run finds what the other has created.
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

// Requires: the task will not run any more.
static __always_inline void forget_thread(const struct task_struct *task) {
  struct thread_slot *slot = slot_of(task);
  if (slot->task != (__u64)task) return;
  forget_all(&slot->state);
  asm volatile("" ::: "memory");
  slot->task = 0;
}

// Keeps the mask, which the compiler would remove as redundant and the verifier needs.
static __always_inline struct operation *operation_at(struct thread_state *thread, __u64 index) {
  asm volatile("" : "+r"(index));
  struct operation *operation = &thread->operations[index & (kNested - 1)];
  asm volatile("" : "+r"(operation));
  return operation;
}

// The number of the thread's outermost operation; 0: it is in none, or in one without a record.
static __always_inline __u64 outermost_operation(const struct thread_state *thread) {
  return thread->depth && !thread->operations[0].is_unrecorded ? thread->operations[0].number : 0;
}

static __always_inline int set_submitting(bool submitting) {
  struct task_struct *task = bpf_get_current_task_btf();
  struct thread_state *thread = submitting ? thread_made_for(task) : thread_of(task);
  if (thread) thread->submitting = submitting;
  return 0;
}
