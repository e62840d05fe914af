// SPDX-License-Identifier: Apache-2.0
// Selects the pages of a host buffer whose NUMA node is queried when the buffer is copied to or from a GPU, and how much
// of the buffer each page represents. Shared by the recorder, which queries, and the merger, which adds up.
#pragma once

#include "runner/events/types.h"

enum {
  MLRUN_HOST_PAGE_BYTES = 4096,
  MLRUN_HOST_PAGES_MAX = 15,  // of one copy: its record has no room for more; all pages of a smaller buffer are queried
  MLRUN_HOST_NODES_MAX = 254,  // a node's number is below this
  MLRUN_HOST_NO_NODE = 255,    // the page is on none: absent, or the zero page
};

// A buffer from its first byte to its last, in parts of about equal size with one queried page each. `phase` changes from
// copy to copy and moves that page, so that repeated copies of a buffer query all its pages. The move is irregular, so
// that the queried pages of a buffer that is interleaved over nodes are not all of one node.
struct mlrun_host_range {
  __u64 address, bytes;
  __u32 phase;
};

static inline __u64 mlrun_host_pages(const struct mlrun_host_range *range) {
  return (range->address + range->bytes - 1) / MLRUN_HOST_PAGE_BYTES - range->address / MLRUN_HOST_PAGE_BYTES + 1;
}

static inline __u32 mlrun_host_pages_asked(const struct mlrun_host_range *range) {
  const __u64 pages = mlrun_host_pages(range);
  return (__u32)(pages < MLRUN_HOST_PAGES_MAX ? pages : (__u64)MLRUN_HOST_PAGES_MAX);
}

// Position of the queried page in part `i`, in 65536ths of the part: scrambled.
static inline __u64 mlrun_host_offset(__u32 phase, __u32 i) {
  __u32 hash = phase * 0x9e3779b1u + i * 0x85ebca6bu;
  hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
  return (hash ^ hash >> 12) & 0xffff;
}

// Address of the page that represents part `i` of `asked` parts.
static inline __u64 mlrun_host_page(const struct mlrun_host_range *range, __u32 i, __u32 asked) {
  const __u64 pages = mlrun_host_pages(range);
  const __u64 page = (pages * i + pages * mlrun_host_offset(range->phase, i) / 65536) / asked;
  return (range->address / MLRUN_HOST_PAGE_BYTES + page) * MLRUN_HOST_PAGE_BYTES;
}

// Bytes of the buffer in that page.
static inline __u64 mlrun_host_page_bytes(const struct mlrun_host_range *range, __u64 page) {
  const __u64 end = range->address + range->bytes, page_end = page + MLRUN_HOST_PAGE_BYTES;
  return (end < page_end ? end : page_end) - (range->address > page ? range->address : page);
}
