// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Calls of libcuda by followed processes, by probes at the entry and at the return of its exports. Not loaded unless it is
// asked for: each of the two takes microseconds, in a virtual machine tens of them.
#pragma once

#include "kprobes/bpf/tasks.h"

// The outermost call that a thread is in: what libcuda calls of its own exports meanwhile is part of it. `stack` tells
// whether a return is its return; 0: none.
struct cuda_begun {
  __u64 stack, begin_ns, cookie;
  __u32 epoch;
  __u64 arguments[MLRUN_CUDA_ARGUMENTS];
};
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct cuda_begun);
} cuda_begun SEC(".maps");

// How often each function was called, so that the loader can let go of one that is called all the time.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, MLRUN_CUDA_FUNCTIONS_MAX);
  __type(key, __u32);
  __type(value, __u64);
} cuda_hits SEC(".maps");

__u32 cuda_epoch;   // one more whenever a function's probes went: what was in it then never returns for us
bool cuda_is_over;  // nothing is recorded any more; the probes go one after the other

SEC("uprobe")
int on_cuda_call(struct pt_regs *registers) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (cuda_is_over || !is_followed(task)) return 0;
  __u64 cookie = bpf_get_attach_cookie(registers);
  __u32 function = cookie & ((1 << MLRUN_CUDA_READS_SHIFT) - 1);
  __u64 *hits = bpf_map_lookup_elem(&cuda_hits, &function);
  if (hits) __sync_fetch_and_add(hits, 1);
  struct cuda_begun *begun = bpf_task_storage_get(&cuda_begun, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!begun) {
    count_loss(MLRUN_KERNEL_CUDA, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  // One that began deeper in the stack has been left without a return, by a jump or an exception. At the same place is
  // what a call jumps to as its last act.
  bool may_return = begun->stack && begun->epoch == cuda_epoch;
  if (may_return && begun->stack >= registers->sp) return 0;
  if (may_return) count_loss(MLRUN_KERNEL_CUDA, MLRUN_KERNEL_LOSS_OPEN);
  begun->stack = registers->sp;
  begun->epoch = cuda_epoch;
  begun->cookie = cookie;
  begun->arguments[0] = registers->di;
  begun->arguments[1] = registers->si;
  begun->arguments[2] = registers->dx;
  begun->arguments[3] = registers->cx;
  begun->arguments[4] = registers->r8;
  begun->begin_ns = now_ns();
  return 0;
}

static __always_inline __u64 read_user(struct mlrun_cuda_call *record, __u64 address, __u32 what) {
  __u64 value = 0;
  if (bpf_probe_read_user(&value, sizeof value, (void *)address) != 0) record->unread |= what;
  return value;
}

static __always_inline void tell_cuda_call(const struct cuda_begun *begun, __s32 result, __u64 end_ns) {
  enum { kLocation = 8 };  // of a CUmemAllocationProp, behind its type and the requested kind of handles
  __u32 reads = begun->cookie >> MLRUN_CUDA_READS_SHIFT;
  struct mlrun_cuda_call *record = RESERVE(mlrun_cuda_call, MLRUN_KERNEL_CUDA);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_CUDA, sizeof *record, end_ns, bpf_get_current_pid_tgid());
  record->begin_ns = begun->begin_ns;
  record->function = begun->cookie & ((1 << MLRUN_CUDA_READS_SHIFT) - 1);
  record->result = result;
  for (int i = 0; i < MLRUN_CUDA_ARGUMENTS; i++) record->arguments[i] = begun->arguments[i];
  record->read[0] = record->read[1] = 0;
  record->unread = record->spare = 0;
  if (result) reads = 0;
  if (reads & MLRUN_CUDA_READS_FIRST) record->read[0] = read_user(record, begun->arguments[0], MLRUN_CUDA_READS_FIRST);
  if (reads & MLRUN_CUDA_READS_SECOND)
    record->read[1] = read_user(record, begun->arguments[1], MLRUN_CUDA_READS_SECOND);
  if (reads & MLRUN_CUDA_READS_LOCATION)
    record->read[1] = read_user(record, begun->arguments[2] + kLocation, MLRUN_CUDA_READS_LOCATION);
  submit(record);
}

// The return has taken its address off the stack.
SEC("uretprobe")
int on_cuda_return(struct pt_regs *registers) {
  __u64 end_ns = now_ns();
  struct cuda_begun *begun = bpf_task_storage_get(&cuda_begun, bpf_get_current_task_btf(), 0, 0);
  if (!begun || !begun->stack || begun->stack != registers->sp - sizeof(__u64)) return 0;
  begun->stack = 0;
  if (!cuda_is_over) tell_cuda_call(begun, (__s32)registers->ax, end_ns);
  return 0;
}
