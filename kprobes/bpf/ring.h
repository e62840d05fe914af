// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The ring and what does not fit it. Nobody is ever woken from here: a wake-up costs microseconds at the worst places
// (an interrupt to ourselves inside a virtual machine), and the reader looks every few milliseconds anyway.
#pragma once

#include "kprobes/bpf/kernel.h"
#include "kprobes/bpf/shared.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 << 20);
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, MLRUN_KERNEL_KINDS *MLRUN_PROBE_REASONS);
  __type(key, __u32);
  __type(value, struct mlrun_probe_loss);
} losses SEC(".maps");

static __always_inline __u64 now_ns(void) { return bpf_ktime_get_ns(); }

static __always_inline void count_loss(__u32 kind, __u32 reason) {
  __u32 index = kind * MLRUN_PROBE_REASONS + reason;
  struct mlrun_probe_loss *loss = bpf_map_lookup_elem(&losses, &index);
  if (!loss) return;
  loss->count++;
  loss->last_ns = now_ns();
}

static __always_inline struct mlrun_kernel_head make_head(__u16 kind, __u16 bytes, __u64 time_ns, __u64 pid_tid) {
  struct mlrun_kernel_head head = {kind, bytes, bpf_get_smp_processor_id(), time_ns, pid_tid >> 32, (__u32)pid_tid};
  return head;
}

// A record of TYPE in the ring, with its head; NULL: counted as lost. The rest of it is to be filled whole.
#define RESERVE(TYPE, KIND)                                                    \
  ({                                                                           \
    struct TYPE *record_ = bpf_ringbuf_reserve(&ring, sizeof(struct TYPE), 0); \
    if (!record_) count_loss(KIND, MLRUN_KERNEL_LOSS_RING);                    \
    record_;                                                                   \
  })
static __always_inline void submit(void *record) { bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); }
