// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// For runs of a non-root user: a process that executes a program with rights which its user does not have (set-user-ID,
// file capabilities, not readable) is no longer recorded, nor are its children. tasks.h checks the rights at each
// event; this program makes the decision permanent, counts it, and covers files that are executable but not readable.
#pragma once

#include "kprobes/bpf/tasks.h"

__u64 unobserved_at_exec;

enum { kNotReadable = 1 };  // BINPRM_FLAGS_ENFORCE_NONDUMP of linux_binprm.interp_flags

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec_with_rights, struct task_struct *task, int old_pid, struct linux_binprm *program) {
  __u32 *flag = bpf_task_storage_get(&observed, task, 0, 0);
  if (!flag || !*flag) return 0;
  if (!BPF_CORE_READ_BITFIELD(program, secureexec) && !(program->interp_flags & kNotReadable)) return 0;
  *flag = 0;
  __sync_fetch_and_add(&unobserved_at_exec, 1);
  return 0;
}
