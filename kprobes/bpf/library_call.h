// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Calls of a library's exports by traced processes, through probes at their entry and return. Loaded only on request:
// each probe takes microseconds, in a virtual machine tens of them. Every library has its own maps.
#pragma once

#include "kprobes/bpf/tasks.h"

// The outermost call of the library that a thread is in; calls by the library of its own exports are part of it.
// `stack`: the stack pointer at entry, by which a return finds its call; 0: the thread is in no call.
struct library_call {
  __u64 stack, begin_ns, cookie;
  __u64 returns_to;  // return address, for stacks; 0: none requested
  __u32 epoch;
  __u64 arguments[MLRUN_LIBRARY_ARGUMENTS];
};

// Reads a word of user memory. If that fails: returns 0 and sets the bits `what` in `unread`.
static __always_inline __u64 read_user(__u64 address, __u32 *unread, __u32 what) {
  __u64 value = 0;
  if (bpf_probe_read_user(&value, sizeof value, (void *)address) != 0) *unread |= what;
  return value;
}

static __always_inline __u32 function_of(__u64 cookie) { return cookie & ((1 << MLRUN_LIBRARY_READS_SHIFT) - 1); }

// `begun`: task storage of struct library_call. `hits`: calls by function; the loader drops functions that are called
// too often. `epoch`: incremented when a function's probes are released, since the return of a call that began
// before may have no probe. `emits_stack`: cookie bit of functions whose return address is kept: after the entry the
// kernel overwrites it on the stack.
static __always_inline void begin_library_call(struct pt_regs *registers, void *begun, void *hits, __u32 epoch,
                                               __u32 kind, __u32 emits_stack) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (!is_observed(task)) return;
  __u64 cookie = bpf_get_attach_cookie(registers);
  __u32 function = function_of(cookie);
  __u64 *count = bpf_map_lookup_elem(hits, &function);
  if (count) __sync_fetch_and_add(count, 1);
  struct library_call *call = bpf_task_storage_get(begun, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!call) {
    count_loss(kind, MLRUN_KERNEL_LOSS_MAP);
    return;
  }
  // A `stack` below the current stack pointer: that call has ended without a return, by longjmp or an exception. A
  // `stack` equal to it: this is a tail call, and part of that call.
  bool may_return = call->stack && call->epoch == epoch;
  if (may_return && call->stack >= registers->sp) return;
  if (may_return) count_loss(kind, MLRUN_KERNEL_LOSS_OPEN);
  call->stack = registers->sp;
  call->epoch = epoch;
  call->cookie = cookie;
  __u32 unread = 0;
  bool is_asked = cookie >> MLRUN_LIBRARY_READS_SHIFT & emits_stack;
  call->returns_to = is_asked ? read_user(registers->sp, &unread, 1) : 0;
  call->arguments[0] = registers->di;
  call->arguments[1] = registers->si;
  call->arguments[2] = registers->dx;
  call->arguments[3] = registers->cx;
  call->arguments[4] = registers->r8;
  call->begin_ns = now_ns();
}

// The recorded call that this return ends; NULL: there is none. The return has already popped its address (8 bytes).
static __always_inline struct library_call *end_library_call(struct pt_regs *registers, void *begun) {
  struct library_call *call = bpf_task_storage_get(begun, bpf_get_current_task_btf(), 0, 0);
  if (!call || !call->stack || call->stack != registers->sp - sizeof(__u64)) return NULL;
  call->stack = 0;
  return call;
}
