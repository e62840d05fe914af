// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The ring buffer, or on larger machines one ring for each 8 processors (kprobes/rings/rings.h), and the loss counters.
// The BPF programs never wake the reader (mlrun-probes), which polls every few milliseconds: a wake-up costs
// microseconds in hot paths (in a virtual machine, an interrupt to the processor itself).
//
// A program reads the time of a record before it reserves the record's bytes in the ring, never after: the reader
// relies on it to order the records of several rings (kprobes/rings/ring_reader.h).
#pragma once

#include "kprobes/bpf/kernel.h"
#include "kprobes/bpf/shared.h"
#include "kprobes/bpf/thread_numbers.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 << 20);
} ring SEC(".maps");

// With several rings: by processor number, the ring that it writes into. The loader creates the rings and this table's
// entries.
struct one_of_rings {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32);
  __array(values, struct one_of_rings);
} rings SEC(".maps");

const volatile bool has_rings;  // use `rings`, not `ring`; constant at load: the verifier removes the other branch

// Loss counters of all processors, one processor after the other; the loader sets the size. A per-processor array could
// not be mapped into the loader's memory.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, MLRUN_PROBE_LOSSES);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct mlrun_probe_loss);
} losses SEC(".maps");

static __always_inline __u64 now_ns(void) { return bpf_ktime_get_ns(); }

static __always_inline void count_loss(__u32 kind, __u32 reason) {
  __u32 index = bpf_get_smp_processor_id() * MLRUN_PROBE_LOSSES + kind * MLRUN_PROBE_REASONS + reason;
  struct mlrun_probe_loss *loss = bpf_map_lookup_elem(&losses, &index);
  if (!loss) return;
  loss->last_ns = now_ns();
  __sync_fetch_and_add(&loss->count, 1);  // atomic: an interrupt may count a loss here as well
}

static __always_inline struct mlrun_kernel_head make_head(__u16 kind, __u16 bytes, __u64 time_ns, __u64 pid_tid) {
  struct mlrun_kernel_head head = {kind, bytes, bpf_get_smp_processor_id(), time_ns, pid_tid >> 32, (__u32)pid_tid};
  return head;
}

static __always_inline void *own_ring(void) {
  __u32 processor = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&rings, &processor);
}

static __always_inline void *reserve(__u64 bytes) {
  if (!has_rings) return bpf_ringbuf_reserve(&ring, bytes, 0);
  void *own = own_ring();
  return own ? bpf_ringbuf_reserve(own, bytes, 0) : 0;
}

// Copies a whole record into the ring; for records whose length is unknown at compile time. False: the ring is full.
static __always_inline bool put(void *record, __u64 bytes) {
  if (!has_rings) return bpf_ringbuf_output(&ring, record, bytes, BPF_RB_NO_WAKEUP) == 0;
  void *own = own_ring();
  return own && bpf_ringbuf_output(own, record, bytes, BPF_RB_NO_WAKEUP) == 0;
}

// Records of low priority are dropped when the ring is half full.
static __always_inline bool is_half_full(void) {
  void *own = has_rings ? own_ring() : 0;
  if (has_rings)
    return !own || bpf_ringbuf_query(own, BPF_RB_AVAIL_DATA) > bpf_ringbuf_query(own, BPF_RB_RING_SIZE) / 2;
  return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2;
}

// Reserves a record of TYPE in the ring; NULL: the ring is full, which is counted as a loss of KIND. The caller fills
// all fields, with a time that it read before.
#define RESERVE(TYPE, KIND)                                 \
  ({                                                        \
    struct TYPE *record_ = reserve(sizeof(struct TYPE));    \
    if (!record_) count_loss(KIND, MLRUN_KERNEL_LOSS_RING); \
    record_;                                                \
  })
static __always_inline void submit(void *record) { bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); }
