// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The scheduler: when a traced thread was off the processor, and which thread woke it. There is a record for every
// preemption, for every wait for I/O (flagged by the kernel, or uninterruptible, like waits for the journal) or inside
// a file operation, and for other waits of at least `wait_min_ns`, of which a program may have thousands in a second.
#pragma once

#include "kprobes/bpf/last_completion.h"
#include "kprobes/bpf/thread_state.h"

enum {
  kUninterruptible = 2,
  kKillable = kUninterruptible | 0x100,  // TASK_WAKEKILL
  kThrottleNs = 1000000,                 // longest time from the kernel's request that a writer sleep to that sleep
};

const volatile __u64 wait_min_ns = 1000000;

// The last wake-up of a thread, by thread id. Not in task storage: wake-ups come from interrupts, and in an interrupt
// during a task storage lookup a second lookup fails. The entry is created when the thread first goes to sleep.
struct wake {
  __u64 time_ns, request;
  __u32 waker_tid, age_ns;
};
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 32768);
  __type(key, __u32);
  __type(value, struct wake);
} wakes SEC(".maps");

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task) {
  __u32 tid = task->pid;
  struct wake *wake = bpf_map_lookup_elem(&wakes, &tid);
  if (!wake) return 0;
  struct mlrun_probe_last *last = last_completion();
  wake->waker_tid = (__u32)current_pid_tid();
  __u64 time_ns = now_ns(), age_ns = last ? time_ns - last->time_ns : 0;
  wake->request = last ? last->request : 0;
  wake->age_ns = age_ns > ~0u ? ~0u : age_ns;
  wake->time_ns = time_ns;
  return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task) {
  __u32 tid = task->pid;
  bpf_map_delete_elem(&wakes, &tid);
  forget_thread(task);
  return 0;
}

// True: balance_dirty_pages has asked for this sleep. A non-blocking write gets the same request but returns without a
// sleep, so the thread's next sleep has another cause.
static __always_inline bool is_throttled(const struct thread_state *thread, __u32 state, __u64 off_ns) {
  __u64 since_ns = thread->throttled_ns > thread->on_ns ? thread->throttled_ns : thread->on_ns;
  return thread->throttled_ns && (state & kKillable) == kKillable && off_ns - since_ns < kThrottleNs;
}

static __always_inline void goes_off(struct task_struct *task, bool preempted, __u32 state) {
  if (!is_observed(task)) return;
  struct thread_state *thread = thread_made_for(task);
  if (!thread) {
    count_loss(MLRUN_KERNEL_WAIT, MLRUN_KERNEL_LOSS_MAP);
    return;
  }
  __u32 tid = task->pid;
  struct wake none = {}, *wake = bpf_map_lookup_elem(&wakes, &tid);
  if (!wake && bpf_map_update_elem(&wakes, &tid, &none, BPF_NOEXIST))
    count_loss(MLRUN_KERNEL_WAIT, MLRUN_KERNEL_LOSS_MAP);
  bool early = wake && wake->time_ns > thread->on_ns;
  __u64 off_ns = now_ns();
  bool throttled = !preempted && is_throttled(thread, state, off_ns);
  if (!preempted) thread->throttled_ns = 0;
  thread->state = preempted ? 0 : state;
  thread->flags = (preempted ? MLRUN_WAIT_PREEMPTED : 0) | (early ? MLRUN_WAIT_EARLY : 0) |
                  (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? MLRUN_WAIT_IO : 0) |
                  (thread->submitting && !preempted ? MLRUN_WAIT_SUBMITTING : 0) |
                  (throttled ? MLRUN_WAIT_THROTTLED : 0);
  thread->off_ns = off_ns;
}

static __always_inline void comes_on(struct task_struct *task) {
  struct thread_state *thread = thread_of(task);
  if (!thread) return;
  __u64 on_ns = now_ns(), off_ns = thread->off_ns;
  __u32 tid = task->pid, flags = thread->flags & ~MLRUN_WAIT_EARLY;
  thread->on_ns = on_ns;
  thread->off_ns = 0;
  bool for_io = flags & MLRUN_WAIT_IO || thread->state & kUninterruptible || thread->depth;
  if (!off_ns || (thread->state && !for_io && on_ns - off_ns < wait_min_ns)) return;
  struct wake *wake = bpf_map_lookup_elem(&wakes, &tid);
  __u64 wake_ns = thread->state && wake ? wake->time_ns : off_ns;
  if (thread->state && wake_ns < off_ns) {
    flags |= thread->flags & MLRUN_WAIT_EARLY ? MLRUN_WAIT_EARLY : MLRUN_WAIT_LOST_WAKE;
    wake_ns = thread->flags & MLRUN_WAIT_EARLY ? off_ns : on_ns;
  }
  struct mlrun_wait *record = RESERVE(mlrun_wait, MLRUN_KERNEL_WAIT);
  if (!record) return;
  bool woken = thread->state && wake && !(flags & MLRUN_WAIT_LOST_WAKE);
  record->head = make_head(MLRUN_KERNEL_WAIT, sizeof *record, on_ns, pid_tid_of(task));
  record->off_ns = off_ns;
  record->wake_ns = wake_ns;
  record->operation = outermost_operation(thread);
  record->waker_request = woken ? wake->request : 0;
  record->state = thread->state;
  record->flags = flags;
  record->waker_tid = woken ? wake->waker_tid : 0;
  record->waker_age_ns = woken ? wake->age_ns : 0;
  submit(record);
}

// The kernel asks a thread that dirties pages faster than they are written to sleep for `pause`; 0 or less: no sleep.
static __always_inline int note_throttle(long pause) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (pause <= 0 || !is_observed(task)) return 0;
  struct thread_state *thread = thread_made_for(task);
  if (thread) thread->throttled_ns = now_ns();
  return 0;
}

SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(on_throttle, void *group, void *control, unsigned long rate, unsigned long task_rate,
             unsigned long dirtied, unsigned long period, long pause) {
  return note_throttle(pause);
}

// Before 6.15 the fields of `control` are separate arguments.
SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(on_throttle_without_control, void *group, unsigned long limit, unsigned long background,
             unsigned long dirty, unsigned long group_limit, unsigned long group_dirty, unsigned long rate,
             unsigned long task_rate, unsigned long dirtied, unsigned long period, long pause) {
  return note_throttle(pause);
}

// A completion of I/O wakes its waiters before the processor switches tasks. Later wake-ups are not attributed to it.
static __always_inline int switches(struct task_struct *from, struct task_struct *to, bool preempted, __u32 state) {
  forget_completion();
  goes_off(from, preempted, state);
  comes_on(to);
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *from, struct task_struct *to, __u32 state) {
  return switches(from, to, preempted, state);
}

// Before 5.18 the event has no argument `state`. It is read from the task, where a concurrent wake-up may already have
// set it to running: the record then shows no sleep, but a thread that was ready to run.
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_without_state, bool preempted, struct task_struct *from, struct task_struct *to) {
  return switches(from, to, preempted, BPF_CORE_READ(from, __state));
}
