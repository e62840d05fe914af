// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The block request that this processor completed last. Threads that it wakes before it switches to another task are
// assumed to have waited for that request; the switch clears the entry.
#pragma once

#include "kprobes/bpf/ring.h"

struct mlrun_probe_last {
  __u64 request, time_ns;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct mlrun_probe_last);
} last_completions SEC(".maps");

static __always_inline struct mlrun_probe_last *last_completion(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&last_completions, &zero);
}

static __always_inline void forget_completion(void) {
  struct mlrun_probe_last *last = last_completion();
  if (last) last->request = 0;
}
