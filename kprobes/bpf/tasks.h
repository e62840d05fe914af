// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Whom we follow: a flag on the group leader, set from outside through a pidfd before the command's first instruction
// and inherited at every fork (mlrun_following). It is never taken away: files are closed, and so written, after a process's exit
// event. It frees itself with the task, and a pid that is used again does not have it.
#pragma once

#include "kprobes/bpf/ring.h"

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, __u32);
} followed SEC(".maps");

static __always_inline __u32 following_of(struct task_struct *task) {
  __u32 *flag = bpf_task_storage_get(&followed, task->group_leader, 0, 0);
  return flag ? *flag : 0;
}

static __always_inline bool is_followed(struct task_struct *task) { return following_of(task); }

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  if (!is_followed(parent)) return 0;
  __u32 *flag = bpf_task_storage_get(&followed, child->group_leader, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (flag)
    *flag = MLRUN_FOLLOWING;
  else
    count_loss(0, MLRUN_KERNEL_LOSS_MAP);
  return 0;
}
