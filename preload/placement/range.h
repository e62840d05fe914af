// SPDX-License-Identifier: Apache-2.0
// Runs of pages in one part of a heap, under the heap's lock. Free runs are in lists by size, 32 sizes a doubling: kept ones with
// their contents, clean ones merged with their neighbours. Behind the last run lies one page that is never handed out: the mapping
// grows from it, so that what grows has the policy of that page and not what a program has made of a block.
//
//   first          top            mapped
//   | runs         | spare ... | seed |  nothing mapped ...  end
#pragma once

#include "preload/placement/window.h"

#pragma GCC visibility push(hidden)

enum { kRunSizes = 832, kSizeWords = kRunSizes / 64 };

struct run_lists {
  uint64_t any[kSizeWords];
  uint32_t first[kRunSizes];
};

struct range {
  uint32_t first, top, mapped, end;  // pages
  struct run_lists kept, clean;
};

// Number of the smallest size of at least so many pages, and its pages.
INLINE uint32_t size_number(uint32_t pages) {
  uint32_t bits = 31 - (uint32_t)__builtin_clz((pages - 1) | 32), shift = bits - 5;
  return 32 * shift + ((pages - 1) >> shift);
}
INLINE uint32_t size_pages(uint32_t number) {
  if (number < 64) return number + 1;
  uint32_t shift = number / 32 - 1;
  return (number % 32 + 33) << shift;
}

// The largest room that fits so many pages closely.
INLINE uint32_t closest_room(uint32_t pages) { return size_pages(size_number(pages + pages / 8)); }

// A file that begins at page `from` of the window. fd -1: none.
struct range_file {
  long fd;
  uint32_t from;
};

// Pages [from, end) of the window for this range, and its first one mapped. False: not possible.
bool range_open(struct range *range, uint32_t from, uint32_t end, struct range_file file);

void *range_seed(const struct range *range);

// A run of at least so many pages whose address is a multiple of `align` pages, with its room, `touched` and state set. kNoPage: no memory.
// range_take_kept finds one that fits closely.
uint32_t range_take_kept(struct range *range, uint32_t pages);
uint32_t range_take_clean(struct range *range, uint32_t pages, uint32_t align);

// Makes a live run's room at least so large, where it is.
bool range_widen(struct range *range, uint32_t page, uint32_t pages);

// Cuts a live run's room; what is cut off is clean, its pages have been given back.
void range_narrow(struct range *range, uint32_t page, uint32_t room);

void range_keep(struct range *range, uint32_t page);
void range_forget_kept(struct range *range, uint32_t page);

// The run's pages have been given back. Its neighbours join it; at the end of the range its memory is unmapped.
void range_add_clean(struct range *range, uint32_t page);

#pragma GCC visibility pop
