// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Which tasks are traced (or observed): tasks whose group leader has a flag (enum mlrun_observed_as). mlrun-probes sets
// it through a pidfd, for a command before its first instruction, and every fork inherits it. New threads get the flag as
// well, because a thread that executes a program becomes the leader itself. An exit does not clear the flag: files are
// closed, and so written, after a process's exit event. The kernel frees it with the task, so a reused pid does not
// have it.
//
// With --cgroup or --system, `scope` decides without a flag. The scope is constant at load, so the verifier removes the
// other branches.
#pragma once

#include "kprobes/bpf/ring.h"

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, __u32);
} observed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} observed_cgroup SEC(".maps");

const volatile __u32 scope = MLRUN_SCOPE_FLAGGED;
bool observes_all;  // false during the loader's trial: then only its child, flagged in `observed`, is traced

enum { kKernelThread = 0x200000 };

// Records all I/O, also of kernel threads.
static __always_inline bool is_system_wide(void) { return scope == MLRUN_SCOPE_SYSTEM && observes_all; }

bool is_over;  // recording has stopped; the probes on functions are released one by one, long after that
// True: a task that was traced once is still traced: recording has not stopped, and neither a change of the task's
// cgroup nor of its rights matters in this run.
bool stay_observed;

// In runs of a non-root user, only processes with the same rights as that user are traced. Checked at each event, since
// a process may change its rights at any time.
const volatile bool own_only;
const volatile __u32 own_uid;

static __always_inline bool is_own(struct task_struct *task) {
  if (!own_only) return true;
  const struct cred *rights = task->real_cred;
  __u64 capabilities = 0;
  // Capabilities in a user namespace give no rights outside of it.
  if (rights->user_ns->level == 0 &&
      (bpf_probe_read_kernel(&capabilities, sizeof capabilities, &rights->cap_permitted) || capabilities))
    return false;
  __u32 gid = rights->gid.val;
  return rights->uid.val == own_uid && rights->euid.val == own_uid && rights->suid.val == own_uid &&
         rights->fsuid.val == own_uid && rights->egid.val == gid && rights->sgid.val == gid && rights->fsgid.val == gid;
}

// The inherited flag (enum mlrun_observed_as) without a check of the rights; 0: none.
static __always_inline __u32 mark_of(struct task_struct *task) {
  __u32 *flag = bpf_task_storage_get(&observed, task->group_leader, 0, 0);
  return flag ? *flag : 0;
}

static __always_inline __u32 flag_of(struct task_struct *task) {
  __u32 mark = is_over ? 0 : mark_of(task);
  return mark && is_own(task) ? mark : 0;
}

static __always_inline void set_flag(struct task_struct *task) {
  __u32 *flag = bpf_task_storage_get(&observed, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (flag)
    *flag = MLRUN_OBSERVED;
  else
    count_loss(0, MLRUN_KERNEL_LOSS_MAP);
}

// enum mlrun_observed_as; 0: not traced. Requires: `task` is the current one, because the kernel's helper checks only the
// current task's cgroup. Kernel threads are excluded from the scopes: they are mostly idle.
static __always_inline __u32 observed_as(struct task_struct *task) {
  if (scope != MLRUN_SCOPE_FLAGGED && !is_over && !(task->flags & kKernelThread)) {
    if (scope == MLRUN_SCOPE_SYSTEM && observes_all) return MLRUN_OBSERVED;
    if (scope == MLRUN_SCOPE_CGROUP && bpf_current_task_under_cgroup(&observed_cgroup, 0) == 1) return MLRUN_OBSERVED;
  }
  return flag_of(task);
}

static __always_inline bool is_observed(struct task_struct *task) { return observed_as(task); }

// True: the task is in a system call of a 32-bit program; these have other numbers.
static __always_inline bool is_in_32bit_call(struct task_struct *task) {
  enum { kCompatTask = 2 };  // TS_COMPAT
  return task->thread_info.status & kCompatTask;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  if (mark_of(parent)) set_flag(child);
  return 0;
}
