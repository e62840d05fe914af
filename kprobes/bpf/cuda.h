// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Calls of libcuda and their results.
#pragma once

#include "kprobes/bpf/caller_stack.h"
#include "kprobes/bpf/library_call.h"

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct library_call);
} cuda_begun SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, MLRUN_LIBRARY_FUNCTIONS_MAX);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, __u64);
} cuda_hits SEC(".maps");

__u32 cuda_epoch;
const volatile bool cuda_has_stacks;

SEC("uprobe")
int on_cuda_call(struct pt_regs *registers) {
  __u32 emits_stack = cuda_has_stacks ? MLRUN_CUDA_EMITS_STACK : 0;
  if (!is_over) begin_library_call(registers, &cuda_begun, &cuda_hits, cuda_epoch, MLRUN_KERNEL_CUDA, emits_stack);
  return 0;
}

static __always_inline void emit_cuda_call(const struct library_call *call, __s32 result, __u64 end_ns) {
  enum { kLocation = 8 };  // offset of `location` in CUmemAllocationProp
  __u32 reads = call->cookie >> MLRUN_LIBRARY_READS_SHIFT, unread = 0;
  struct mlrun_cuda_call *record = RESERVE(mlrun_cuda_call, MLRUN_KERNEL_CUDA);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_CUDA, sizeof *record, end_ns, current_pid_tid());
  record->begin_ns = call->begin_ns;
  record->function = function_of(call->cookie);
  record->result = result;
  for (int i = 0; i < MLRUN_LIBRARY_ARGUMENTS; i++) record->arguments[i] = call->arguments[i];
  record->read[0] = record->read[1] = 0;
  record->spare = 0;
  if (result) reads = 0;
  if (reads & MLRUN_CUDA_READS_FIRST) record->read[0] = read_user(call->arguments[0], &unread, MLRUN_CUDA_READS_FIRST);
  if (reads & MLRUN_CUDA_READS_SECOND)
    record->read[1] = read_user(call->arguments[1], &unread, MLRUN_CUDA_READS_SECOND);
  if (reads & MLRUN_CUDA_READS_LOCATION)
    record->read[1] = read_user(call->arguments[2] + kLocation, &unread, MLRUN_CUDA_READS_LOCATION);
  record->unread = unread;
  submit(record);
}

SEC("uretprobe")
int on_cuda_return(struct pt_regs *registers) {
  __u64 end_ns = now_ns();
  const struct library_call *call = end_library_call(registers, &cuda_begun);
  if (!call || is_over) return 0;
  if (call->returns_to && !(__s32)registers->ax) emit_stack(registers, call->returns_to, end_ns);
  emit_cuda_call(call, (__s32)registers->ax, end_ns);
  return 0;
}
