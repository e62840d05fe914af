// SPDX-License-Identifier: Apache-2.0
// The addresses of all heaps: a window of 4 TiB below this library, where the kernel places no mapping unless asked to. It is not
// reserved: memory is mapped in it when a block needs it, so that only blocks count in address-space limits, VmSize and core files.
//
//   window | rule 0: small | large | yard | rule 1: ...        each part begins at a segment of 64 MiB
//
// A heap hands out runs of pages. Each page has an entry in the table of its segment; the entry of a run's first page describes the
// run. A segment of the yard holds one growing block, and its table is that block's entry alone.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum { kPageBits = 12, kPageBytes = 1 << kPageBits, kSegmentBits = 26, kSegments = 1 << 16 };
enum { kSegmentPages = 1 << (kSegmentBits - kPageBits) };
enum { kNoPage = 0 };  // the window's first page is in no run

enum run_state {
  kNoRun,     // inside a run, or never used
  kLive,      // a block
  kGrown,     // a block in the yard
  kKept,      // freed, its pages stay for the next block; in the yard too
  kClean,     // its pages have been given back
  kCleanEnd,  // last page of a clean run of several pages
  kLeaving,   // its pages are being given back
  kCached     // freed, in a cache
};

struct run {
  uint32_t room;   // pages of the run; also set in a kCleanEnd
  uint32_t pages;  // pages that the block uses
  uint32_t
      touched;  // number of first pages that may be in memory; a huge page may reach beyond them. In the yard: that are mapped
  union {
    uint32_t next;   // free run: the next in the list of its size
    uint32_t cache;  // live block: number of the cache that it goes to when freed
  };
  uint32_t prev;
  uint32_t newer, older;  // kept run, or a block in the yard with pages behind it: its neighbours in the order of frees
  uint8_t state, rule;
  uint16_t pieces;  // number of mappings into which a ratio has cut it; 0: no ratio
};
_Static_assert(sizeof(struct run) == 32, "512 KiB for a segment");

struct window {
  uintptr_t base, bytes;  // all addresses until the rules are read; no address if there are none
};
extern HOT struct window window;

// One word for each segment. 0: it has no block of ours. With bit 1 set the rest is the address of the struct heap of a rule whose blocks
// memkind makes. Otherwise it is the address of the segment's table, with bit 0 set if the segment belongs to the yard (yard.h).
extern uintptr_t window_tables[kSegments];

// Chooses the window; false: this library is too low in the address space.
bool window_choose(void);

INLINE bool in_window(const void *at) { return (uintptr_t)at - window.base < window.bytes; }

INLINE uint32_t page_of(const void *at) { return (uint32_t)(((uintptr_t)at - window.base) >> kPageBits); }
INLINE char *address_of(uint32_t page) { return (char *)(window.base + ((uintptr_t)page << kPageBits)); }

// Requires: the page's segment has a table.
INLINE struct run *run_at(uint32_t page) {
  uintptr_t table = window_tables[page / kSegmentPages];
  return table & 1 ? (struct run *)(table - 1) : (struct run *)table + page % kSegmentPages;
}

// Requires the same. Whether the page is the first of a mapping in the yard.
INLINE bool in_yard(uint32_t page) { return window_tables[page / kSegmentPages] & 1; }

// `align`: in pages, a power of two.
INLINE bool is_aligned(uint32_t page, uint32_t align) {
  return (((window.base >> kPageBits) + page) & (align - 1)) == 0;
}

// An atomic load, because another thread may change the state without the heap's lock: a live block becomes a cached one, and back.
INLINE enum run_state state_of(const struct run *run) { return __atomic_load_n(&run->state, __ATOMIC_RELAXED); }

// The run of a live block; null: no block of our own heaps (memkind's excluded) begins at this address.
INLINE struct run *live_run(const void *block) {
  if (unlikely(!window.base || ((uintptr_t)block - window.base) >> kSegmentBits >= kSegments)) return NULL;
  uint32_t page = page_of(block);
  uintptr_t table = window_tables[page / kSegmentPages];
  if (unlikely(!table || (uintptr_t)block % kPageBytes)) return NULL;
  if (unlikely(table & 3 && (table & 2 || page % kSegmentPages))) return NULL;
  struct run *run = run_at(page);
  enum run_state state = state_of(run);
  return likely(state == kLive || state == kGrown) ? run : NULL;
}

// Tables for the segments with these pages. False: no memory.
bool window_add_tables(uint32_t first, uint32_t end);

#pragma GCC visibility pop
