// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Process and thread ids in mlrun's PID namespace, as in mlrun's /proc; the merger requires these. A task has an id in
// each namespace from the initial one down to its own. Ids in the initial one are in the task itself: cheap to read.
#pragma once

#include "kprobes/bpf/kernel.h"

const volatile __u32 pid_namespace;  // inode of mlrun's PID namespace; 0: the initial one
__u32 pid_level;                     // number of namespaces above it

// mlrun-probes runs this program once in its own context: it is in the same namespace as mlrun.
SEC("raw_tp")
int find_pid_level(void *unused) {
  struct task_struct *task = bpf_get_current_task_btf();
  pid_level = BPF_CORE_READ(task, thread_pid, level);
  return 0;
}

// The id in mlrun's namespace. 0: there is none, because the task is outside of the namespace, or has ended and the
// kernel has already detached its ids.
static __always_inline __u32 number_below(struct pid *numbers) {
  __u32 level = pid_level;
  if (!numbers || BPF_CORE_READ(numbers, level) < level) return 0;
  __u64 place = (__u64)numbers + bpf_core_field_offset(struct pid, numbers);
  struct upid *own = (void *)(place + level * bpf_core_type_size(struct upid));
  return BPF_CORE_READ(own, ns, ns.inum) == pid_namespace ? BPF_CORE_READ(own, nr) : 0;
}

static __always_inline __u32 tid_of(struct task_struct *task) {
  return pid_namespace ? number_below(BPF_CORE_READ(task, thread_pid)) : task->pid;
}

static __always_inline __u32 pid_of(struct task_struct *task) {
  return pid_namespace ? number_below(BPF_CORE_READ(task, group_leader, thread_pid)) : task->tgid;
}

static __always_inline __u64 pid_tid_of(struct task_struct *task) { return (__u64)pid_of(task) << 32 | tid_of(task); }

static __always_inline __u64 current_pid_tid(void) {
  return pid_namespace ? pid_tid_of(bpf_get_current_task_btf()) : bpf_get_current_pid_tgid();
}
