// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// A loop by bpf_loop, which needs Linux 5.17; on older kernels, an unrolled one with fewer steps, for the verifier.
#pragma once

#include "kprobes/bpf/kernel.h"

// Calls `step`(number, context), up to `most` times and before 5.17 up to `most_before`, until it returns non-zero.
static __always_inline void run_loop(__u32 most, __u32 most_before, long (*step)(__u32, void *), void *context) {
  if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
    bpf_loop(most, step, context, 0);
    return;
  }
  for (__u32 i = 0; i < most_before; i++) {
    if (step(i, context)) return;
  }
}
