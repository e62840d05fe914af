// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The process that last dirtied pages of a file. Kernel threads write the pages to the disk much later, and that I/O is
// attributed to this process. Also counts the clean pages that the current file operation has dirtied.
#pragma once

#include "kprobes/bpf/bio_pages.h"
#include "kprobes/bpf/page_cache.h"
#include "kprobes/bpf/thread_state.h"

struct inode_key {
  __u64 inode;
  __u32 device, generation;  // inode numbers are reused
};
struct writer {
  __u64 pid_tid;
  char comm[MLRUN_KERNEL_COMM];
};

// Traced processes only. No event says when a file has been written back completely, so the map evicts its least
// recently used entries. Most files are written back long before.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 32768);
  __type(key, struct inode_key);
  __type(value, struct writer);
} writers SEC(".maps");

// A bit set (Bloom filter) of all files that ever had a writer, to recognise files whose entry was evicted. With up to
// 65536 files, the probability of a false match is 1 : 70000.
enum { kWrittenFilesBits = 22, kBitsOfAFile = 4 };
static __u64 written_files[1 << (kWrittenFilesBits - 6)];

static __always_inline __u64 hash_of(const struct inode_key *key) {
  __u64 hash = (key->inode ^ (__u64)key->generation << 32) * 0x9e3779b97f4a7c15;
  return (hash ^ hash >> 32 ^ key->device) * 0xd6e8feb86659fd93;
}

// Returns the word of the Bloom filter that contains the file's next bit, and sets *bit.
static __always_inline __u64 *next_word(__u64 *hash, __u64 *bit) {
  __u64 number = *hash >> (64 - kWrittenFilesBits);
  *hash = (*hash ^ *hash >> 29) * 0xbf58476d1ce4e5b9;
  *bit = 1ull << (number & 63);
  number >>= 6;
  asm volatile("" : "+r"(number));
  return &written_files[number & (sizeof written_files / sizeof *written_files - 1)];
}

static __always_inline void note_written(const struct inode_key *key) {
  __u64 hash = hash_of(key), bit = 0;
  for (int i = 0; i < kBitsOfAFile; i++) {
    __u64 *word = next_word(&hash, &bit);
    __sync_fetch_and_or(word, bit);
  }
}

static __always_inline bool was_written(const struct inode_key *key) {
  __u64 hash = hash_of(key), bit = 0;
  for (int i = 0; i < kBitsOfAFile; i++) {
    __u64 *word = next_word(&hash, &bit);
    if (!(*word & bit)) return false;
  }
  return true;
}

// Counts dirtied pages of regular files only: metadata blocks are pages of the file system's block device.
static __always_inline void count_dirtied(struct inode *inode, void *folio) {
  if ((BPF_CORE_READ(inode, i_mode) & kFileType) != kRegularFile) return;
  struct thread_state *thread = thread_of(bpf_get_current_task_btf());
  if (thread && thread->depth) operation_at(thread, thread->depth - 1)->dirtied += pages_of(folio);
}

static __always_inline int note_dirtying(void *folio, struct address_space *mapping) {
  if (!mapping || !is_observed(bpf_get_current_task_btf())) return 0;
  struct inode *inode = BPF_CORE_READ(mapping, host);
  if (!inode) return 0;
  count_dirtied(inode, folio);
  struct inode_key key = {BPF_CORE_READ(inode, i_ino), device_of_inode(inode), BPF_CORE_READ(inode, i_generation)};
  struct writer writer = {.pid_tid = current_pid_tid()}, *known = bpf_map_lookup_elem(&writers, &key);
  if (known && known->pid_tid == writer.pid_tid) return 0;
  bpf_get_current_comm(writer.comm, sizeof writer.comm);
  if (!known) note_written(&key);
  bpf_map_update_elem(&writers, &key, &writer, BPF_ANY);
  return 0;
}

// The kernel reports a page only when it becomes dirty. So a write that dirtied no clean page has overwritten dirty
// pages. If a traced process had dirtied them, the process of this write becomes the file's writer. For files that only
// untraced processes dirtied, and for block devices (whose pages have another inode), no entry in `writers` is found.
// `result`: bytes written, or -errno.
static __always_inline void note_overwriting(const struct operation *operation, __s64 result) {
  if (result <= 0 || operation->dirtied || operation->flags & MLRUN_FILE_DIRECT) return;
  struct file *file = (void *)operation->file;
  struct inode_key key = {operation->inode, operation->device, BPF_CORE_READ(file, f_inode, i_generation)};
  struct writer writer = {.pid_tid = current_pid_tid()}, *known = bpf_map_lookup_elem(&writers, &key);
  if (!known || known->pid_tid == writer.pid_tid) return;
  bpf_get_current_comm(writer.comm, sizeof writer.comm);
  bpf_map_update_elem(&writers, &key, &writer, BPF_EXIST);
}

// A kernel has one of these two events: since 5.18 the one with folios.
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(on_dirty_folio, void *folio, struct address_space *mapping) { return note_dirtying(folio, mapping); }

SEC("tp_btf/writeback_dirty_page")
int BPF_PROG(on_dirty_page, void *page, struct address_space *mapping) { return note_dirtying(page, mapping); }
