// SPDX-License-Identifier: Apache-2.0
// Which pages of a host buffer are asked for their node when it is copied to or from a GPU, and how much of the buffer
// each stands for. Shared by the recorder, which asks, and the merger, which adds up.
#pragma once

#include "runner/events/types.h"

enum {
  MLRUN_HOST_PAGE_BYTES = 4096,
  MLRUN_HOST_PAGES_MAX = 15,   // of one copy: as many as its record has room for; a smaller buffer is asked as a whole
  MLRUN_HOST_NODES_MAX = 254,  // a node's number is below this
  MLRUN_HOST_NO_NODE = 255,    // the page is on none: absent, or the zero page
};

// A buffer from its first byte to its last. `phase` changes from copy to copy, and the page of each part with it, so that
// the pages of a buffer that is copied again and again are all asked, and an interleaved one has no pattern in common
// with them.
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

// Where in part `i` its page is, in 65536ths: scrambled.
static inline __u64 mlrun_host_offset(__u32 phase, __u32 i) {
  __u32 hash = phase * 0x9e3779b1u + i * 0x85ebca6bu;
  hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
  return (hash ^ hash >> 12) & 0xffff;
}

// Address of the page that stands for part `i` of `asked` parts.
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
