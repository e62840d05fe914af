// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Start, exec and end of traced threads. Loaded only in runs without libmlrun_preload.so in the processes, and in runs
// with library probes.
#pragma once

#include "kprobes/bpf/tasks.h"

static __always_inline int emit_task(struct task_struct *task, __u32 event, __u32 parent) {
  __u64 time_ns = now_ns();
  struct mlrun_task *record = RESERVE(mlrun_task, MLRUN_KERNEL_TASK);
  if (!record) return 0;
  record->head = make_head(MLRUN_KERNEL_TASK, sizeof *record, time_ns, pid_tid_of(task));
  record->event = event;
  record->parent = parent;
  bpf_probe_read_kernel(record->comm, sizeof record->comm, task->comm);
  submit(record);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_task_begin, struct task_struct *parent, struct task_struct *child) {
  return is_observed(parent) ? emit_task(child, MLRUN_TASK_FORK, pid_of(parent)) : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_task_exec, struct task_struct *task) {
  return is_observed(task) ? emit_task(task, MLRUN_TASK_EXEC, 0) : 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_end, struct task_struct *task) {
  return is_observed(task) ? emit_task(task, MLRUN_TASK_EXIT, 0) : 0;
}
