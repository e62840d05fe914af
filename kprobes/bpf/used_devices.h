// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Devices that traced processes write to. Metadata writes of kernel threads and flushes on these devices are recorded:
// an fsync of a traced process may wait for them.
#pragma once

#include "kprobes/bpf/ring.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32);
  __type(value, __u32);
} used_devices SEC(".maps");

static __always_inline __u32 number_of(struct gendisk *disk) {
  return (__u32)BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
}

static __always_inline bool is_used(__u32 device) { return bpf_map_lookup_elem(&used_devices, &device) != 0; }

static __always_inline void note_used(__u32 device) {
  __u32 yes = 1;
  if (is_used(device)) return;
  if (bpf_map_update_elem(&used_devices, &device, &yes, BPF_ANY))
    count_loss(MLRUN_KERNEL_REQUEST, MLRUN_KERNEL_LOSS_MAP);
}
