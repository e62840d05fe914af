// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// How often traced processes made each system call, and how long the calls took. Loaded only on request: while a
// program is attached to these events, every system call of the machine takes the kernel's slower path.
#pragma once

#include "kprobes/bpf/tasks.h"

enum { kLargestErrno = 4095 };  // a system call returns -errno, from -4095 to -1

struct syscall_begun {
  __u64 begin_ns;
  struct mlrun_syscall_key key;
};
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct syscall_begun);
} syscalls_begun SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 98304);  // the merger's limit is above this (runner/trace/kernel/syscall_table.h)
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct mlrun_syscall_key);
  __type(value, struct mlrun_syscall_counts);
} syscalls SEC(".maps");

static const struct mlrun_syscall_counts kNoSyscalls;

static __always_inline struct mlrun_syscall_counts *counts_of(struct mlrun_syscall_key *key) {
  struct mlrun_syscall_counts *counts = bpf_map_lookup_elem(&syscalls, key);
  if (counts) return counts;
  bpf_map_update_elem(&syscalls, key, &kNoSyscalls, BPF_NOEXIST);
  return bpf_map_lookup_elem(&syscalls, key);
}

static __always_inline __u32 log2_of(__u64 value) {
  __u32 log = 0;
#pragma unroll
  for (__u32 bits = 32; bits; bits >>= 1) {
    if (value >> bits) {
      value >>= bits;
      log += bits;
    }
  }
  return log;
}

// Counting of mlrun's child starts here, when it becomes the command.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task) {
  __u32 *flag = bpf_task_storage_get(&observed, task->group_leader, 0, 0);
  if (flag && *flag) *flag = MLRUN_OBSERVED;
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_syscall_enter, struct pt_regs *registers, long number) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (observed_as(task) != MLRUN_OBSERVED) return 0;
  struct syscall_begun *begun = bpf_task_storage_get(&syscalls_begun, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!begun) {
    count_loss(MLRUN_KERNEL_SYSCALL, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  bool is_32bit = is_in_32bit_call(task);
  begun->key.pid = pid_of(task);
  begun->key.number = (number >= 0 && number < MLRUN_SYSCALL_OTHER ? (__u32)number : MLRUN_SYSCALL_OTHER) |
                      (is_32bit ? MLRUN_SYSCALL_KEY_32BIT : 0);
  begun->key.start_ns = task->group_leader->start_boottime;
  begun->begin_ns = now_ns();
  struct mlrun_syscall_counts *counts = counts_of(&begun->key);
  if (!counts) {
    count_loss(MLRUN_KERNEL_SYSCALL, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  __sync_fetch_and_add(&counts->calls, 1);
  counts->last_ns = begun->begin_ns;
  bpf_probe_read_kernel(counts->comm, sizeof counts->comm, task->group_leader->comm);
  return 0;
}

// A new process or thread first returns from its parent's fork or clone, which it has not entered: not counted for it.
SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall_exit, struct pt_regs *registers, long result) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (observed_as(task) != MLRUN_OBSERVED) return 0;
  struct syscall_begun *begun = bpf_task_storage_get(&syscalls_begun, task, 0, 0);
  if (!begun || !begun->begin_ns) return 0;
  __u64 took_ns = now_ns() - begun->begin_ns;
  begun->begin_ns = 0;
  struct mlrun_syscall_counts *counts = bpf_map_lookup_elem(&syscalls, &begun->key);
  if (!counts) return 0;
  if (result < 0 && result >= -kLargestErrno) __sync_fetch_and_add(&counts->errors, 1);
  __sync_fetch_and_add(&counts->total_ns, took_ns);
  __u32 bucket = log2_of(took_ns);
  if (bucket >= MLRUN_SYSCALL_BUCKETS) bucket = MLRUN_SYSCALL_BUCKETS - 1;
  __sync_fetch_and_add(&counts->buckets[bucket], 1);
  return 0;
}
