// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Allocations and releases of PyTorch's GPU allocator, by its static probes: each is one nop, and the locations of its
// arguments differ between builds.
#pragma once

#include "kprobes/bpf/tasks.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, MLRUN_PROBE_LAYOUTS_MAX);
  __type(key, __u32);
  __type(value, struct mlrun_probe_layout);
} torch_layouts SEC(".maps");

// Reads an argument in its own width and extends it to 64 bits. False: it cannot be read.
static __always_inline bool read_argument(struct pt_regs *registers, const struct mlrun_probe_argument *argument,
                                          __u64 *value) {
  enum { kBits = 64, kBitsOfByte = 8 };
  __u64 held = argument->value;
  if (argument->place != MLRUN_ARGUMENT_CONSTANT &&
      bpf_probe_read_kernel(&held, sizeof held, (void *)registers + argument->in_registers) != 0)
    return false;
  if (argument->place == MLRUN_ARGUMENT_MEMORY) {
    const void *place = (void *)(held + argument->value);
    __u32 bytes = argument->bytes < sizeof held ? argument->bytes : sizeof held;
    held = 0;
    if (bpf_probe_read_user(&held, bytes, place) != 0) return false;
  }
  __u32 unused = (kBits - argument->bytes * kBitsOfByte) & (kBits - 1);
  held <<= unused;
  *value = argument->is_signed ? (__u64)((__s64)held >> unused) : held >> unused;
  return true;
}

SEC("uprobe")
int on_torch_memory(struct pt_regs *registers) {
  __u32 number = bpf_get_attach_cookie(registers);
  const struct mlrun_probe_layout *layout = bpf_map_lookup_elem(&torch_layouts, &number);
  if (is_over || !layout || !is_observed(bpf_get_current_task_btf())) return 0;
  __u64 time_ns = now_ns();
  struct mlrun_torch_memory *record = RESERVE(mlrun_torch_memory, MLRUN_KERNEL_TORCH);
  if (!record) return 0;
  record->head = make_head(MLRUN_KERNEL_TORCH, sizeof *record, time_ns, current_pid_tid());
  record->probe = layout->probe;
  __u32 unread = 0;
  for (__u32 i = 0; i < MLRUN_TORCH_ARGUMENTS; i++) {
    __u64 value = 0;
    if (i < layout->count && !read_argument(registers, &layout->arguments[i], &value)) unread |= 1 << i;
    record->arguments[i] = value;
  }
  record->unread = unread;
  submit(record);
  return 0;
}
