// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Which file a bio reads or writes: the inode of its first page, and the byte range in the file.
#pragma once

#include "kprobes/bpf/inode_device.h"
#include "kprobes/bpf/ring.h"

enum { kPageShift = 12, kFileType = 0170000, kBlockDevice = 0060000 };

struct bio_pages {
  __u64 inode, begin, end;
  __u32 device, generation;
  bool of_file, of_device;  // the first page belongs to a file, or to a block device; neither: anonymous or no pages
};

struct page_home {
  struct address_space *mapping;
  __u64 index;
};

// Reads mapping and index. `head`: address of a page structure that has them: a single page, or the first of a folio.
static __always_inline struct page_home home_of(__u64 head) {
  struct page_home home = {};
  if (bpf_core_type_exists(struct folio)) {
    struct folio *folio = (void *)head;
    home.mapping = BPF_CORE_READ(folio, mapping);
    home.index = BPF_CORE_READ(folio, index);
  } else {
    struct page___mapped *page = (void *)head;
    home.mapping = BPF_CORE_READ(page, mapping);
    home.index = BPF_CORE_READ(page, index);
  }
  return home;
}

// Bits 0 and 1 of a mapping mark anonymous and movable pages.
static __always_inline struct inode *host_of(struct address_space *mapping) {
  return mapping && !((__u64)mapping & 3) ? BPF_CORE_READ(mapping, host) : 0;
}

// The address of the first page of the folio. The word read here has bit 0 set if the page is not the first one; its
// other bits are the first page's address or, in newer kernels, a mask that yields it from the page's own address.
// Masks are larger than all addresses of page structures.
static __always_inline __u64 head_of(struct page *page) {
  const __u64 masks_begin = 0xffffffff00000000;
  struct page___info *newer = (void *)page;
  __u64 info = bpf_core_field_exists(newer->compound_info) ? BPF_CORE_READ(newer, compound_info)
                                                           : BPF_CORE_READ(page, compound_head);
  if (!(info & 1)) return (__u64)page;
  return info >= masks_begin ? (__u64)page & info : info - 1;
}

// True: the bio reads or writes this page for the file that it caches. The kernel locks a page while it is read, and
// marks it while it is written back. Without either flag the page is a buffer of direct I/O: possibly mapped memory of
// another file.
static __always_inline bool is_for_its_file(__u64 head) {
  __u64 flags = 0;
  bpf_probe_read_kernel(&flags, sizeof flags, (void *)head);  // the first field in all versions
  return (flags >> bpf_core_enum_value(enum pageflags, PG_locked) |
          flags >> bpf_core_enum_value(enum pageflags, PG_writeback)) &
         1;
}

static __always_inline void look_at_pages(struct bio *bio, struct bio_pages *pages) {
  __u32 bytes = bio->bi_iter.bi_size;
  struct bio_vec vector = {};
  if (!bytes) return;
  bpf_probe_read_kernel(&vector, sizeof vector, bio->bi_io_vec + bio->bi_iter.bi_idx);
  if (!vector.bv_page) return;
  __u64 page = (__u64)vector.bv_page, head = head_of(vector.bv_page);
  struct page_home home = home_of(head);
  struct inode *inode = host_of(home.mapping);
  if (!inode) return;
  // Cached pages of a block device need not have these flags: the kernel also reads and writes single buffers of a
  // page, each with its own lock.
  bool of_device = (BPF_CORE_READ(inode, i_mode) & kFileType) == kBlockDevice;
  if (!of_device && !is_for_its_file(head)) return;
  pages->inode = BPF_CORE_READ(inode, i_ino);
  pages->device = device_of_inode(inode);
  pages->generation = BPF_CORE_READ(inode, i_generation);
  pages->of_device = of_device;
  pages->of_file = !of_device;
  __u64 number = home.index + (page - head) / bpf_core_type_size(struct page);
  pages->begin = (number << kPageShift) + vector.bv_offset;
  pages->end = pages->begin + bytes;
}
