// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Who made a file's pages dirty last: kernel threads write them to the disk much later, and that I/O belongs to him.
#pragma once

#include "kprobes/bpf/bio_pages.h"
#include "kprobes/bpf/tasks.h"

struct inode_key {
  __u64 inode;
  __u32 device, generation;  // a number is used again
};
struct writer {
  __u64 pid_tid;
  char comm[MLRUN_KERNEL_COMM];
};

// Followed processes only. The longest unused ones make room for others.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 32768);
  __type(key, struct inode_key);
  __type(value, struct writer);
} writers SEC(".maps");

static __always_inline int note_writer(struct address_space *mapping) {
  if (!mapping || !is_followed(bpf_get_current_task_btf())) return 0;
  struct inode *inode = BPF_CORE_READ(mapping, host);
  if (!inode) return 0;
  struct inode_key key = {BPF_CORE_READ(inode, i_ino), device_of_inode(inode), BPF_CORE_READ(inode, i_generation)};
  struct writer writer = {.pid_tid = bpf_get_current_pid_tgid()}, *known = bpf_map_lookup_elem(&writers, &key);
  if (known && known->pid_tid == writer.pid_tid) return 0;
  bpf_get_current_comm(writer.comm, sizeof writer.comm);
  bpf_map_update_elem(&writers, &key, &writer, BPF_ANY);
  return 0;
}

// One of the two exists: folios came with 5.18 here.
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(on_dirty_folio, void *folio, struct address_space *mapping) { return note_writer(mapping); }

SEC("tp_btf/writeback_dirty_page")
int BPF_PROG(on_dirty_page, void *page, struct address_space *mapping) { return note_writer(mapping); }
