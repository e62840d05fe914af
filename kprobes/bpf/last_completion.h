// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The request that this processor is completing: threads woken meanwhile were waiting for it. Cleared when the
// processor switches to another task.
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
