// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Pages that a traced thread brought into the page cache: missing pages that a read requested, and read-ahead. The
// merger distinguishes the two by the call that the thread was in.
#pragma once

#include "kprobes/bpf/bio_pages.h"
#include "kprobes/bpf/tasks.h"

enum { kRegularFile = 0100000, kOrderMask = 31, kOrderBits = 255 };

// Where a large folio's number of pages (as a power of two) is, by kernel version.
struct folio___byte {  // 6.1 to 6.7
  unsigned char _folio_order;
} __attribute__((preserve_access_index));
struct folio___flags {
  unsigned long _flags_1;
} __attribute__((preserve_access_index));

struct page___second {  // before 6.1: the second page of a compound page
  unsigned char compound_order;
} __attribute__((preserve_access_index));

static __always_inline __u32 pages_of(struct folio *folio) {
  __u64 flags = 0;
  bpf_probe_read_kernel(&flags, sizeof flags, folio);  // the first field in all versions
  if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1)) return 1;
  struct folio___byte *byte = (void *)folio;
  struct folio___flags *word = (void *)folio;
  struct page___second *second = (void *)folio + bpf_core_type_size(struct page);
  __u32 order = 0;
  if (bpf_core_field_exists(byte->_folio_order))
    order = BPF_CORE_READ(byte, _folio_order);
  else if (bpf_core_field_exists(word->_flags_1))
    order = BPF_CORE_READ(word, _flags_1) & kOrderBits;
  else
    order = BPF_CORE_READ(second, compound_order);
  return 1u << (order & kOrderMask);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_page_added, struct folio *folio) {
  if (!is_observed(bpf_get_current_task_btf())) return 0;
  struct page_home home = home_of((__u64)folio);
  struct address_space *mapping = home.mapping;
  struct inode *inode = BPF_CORE_READ(mapping, host);
  if (!inode || (BPF_CORE_READ(inode, i_mode) & kFileType) != kRegularFile) return 0;
  __u64 time_ns = now_ns();
  struct mlrun_page_add *record = RESERVE(mlrun_page_add, MLRUN_KERNEL_PAGES);
  if (!record) return 0;
  record->head = make_head(MLRUN_KERNEL_PAGES, sizeof *record, time_ns, current_pid_tid());
  record->inode = BPF_CORE_READ(inode, i_ino);
  record->first_page = home.index;
  record->device = device_of_inode(inode);
  record->pages = pages_of(folio);
  submit(record);
  return 0;
}
