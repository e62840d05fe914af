// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Who made a file's pages dirty last: kernel threads write them to the disk much later, and that I/O belongs to him. And how many
// pages that were clean the file operation under way has made dirty.
#pragma once

#include "kprobes/bpf/bio_pages.h"
#include "kprobes/bpf/page_cache.h"
#include "kprobes/bpf/thread_state.h"

struct inode_key {
  __u64 inode;
  __u32 device, generation;  // a number is used again
};
struct writer {
  __u64 pid_tid;
  char comm[MLRUN_KERNEL_COMM];
};

// Followed processes only. Most files have been written long before their room is needed, but nobody tells when: the longest unused
// ones make room for others.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 32768);
  __type(key, struct inode_key);
  __type(value, struct writer);
} writers SEC(".maps");

// Which files have ever had a writer, as bits, of which each file sets a few: one that has none any more is known by them. Another
// file may have the same ones by chance, up to 65536 files with a probability of 1 : 70000.
enum { kWrittenFilesBits = 22, kBitsOfAFile = 4 };
static __u64 written_files[1 << (kWrittenFilesBits - 6)];

static __always_inline __u64 hash_of(const struct inode_key *key) {
  __u64 hash = (key->inode ^ (__u64)key->generation << 32) * 0x9e3779b97f4a7c15;
  return (hash ^ hash >> 32 ^ key->device) * 0xd6e8feb86659fd93;
}

// The next bit of the file, and its word.
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

// Blocks of the file system's own are pages of its device, and none of the file's.
static __always_inline void count_dirtied(struct inode *inode, void *folio) {
  if ((BPF_CORE_READ(inode, i_mode) & kFileType) != kRegularFile) return;
  struct thread_state *thread = thread_of(bpf_get_current_task_btf());
  if (thread && thread->depth) operation_at(thread, thread->depth - 1)->dirtied += pages_of(folio);
}

static __always_inline int note_dirtying(void *folio, struct address_space *mapping) {
  if (!mapping || !is_followed(bpf_get_current_task_btf())) return 0;
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

// The kernel tells of a page when it becomes dirty. A write that found no clean one has written over what a followed process made
// dirty, and the file is its own process's from now on. Of what strangers made dirty, and of block devices, there is no writer here.
// `result`: bytes.
static __always_inline void note_overwriting(const struct operation *operation, __s64 result) {
  if (result <= 0 || operation->dirtied || operation->flags & MLRUN_FILE_DIRECT) return;
  struct file *file = (void *)operation->file;
  struct inode_key key = {operation->inode, operation->device, BPF_CORE_READ(file, f_inode, i_generation)};
  struct writer writer = {.pid_tid = current_pid_tid()}, *known = bpf_map_lookup_elem(&writers, &key);
  if (!known || known->pid_tid == writer.pid_tid) return;
  bpf_get_current_comm(writer.comm, sizeof writer.comm);
  bpf_map_update_elem(&writers, &key, &writer, BPF_EXIST);
}

// One of the two exists: folios came with 5.18 here.
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(on_dirty_folio, void *folio, struct address_space *mapping) { return note_dirtying(folio, mapping); }

SEC("tp_btf/writeback_dirty_page")
int BPF_PROG(on_dirty_page, void *page, struct address_space *mapping) { return note_dirtying(page, mapping); }
