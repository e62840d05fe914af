// SPDX-License-Identifier: Apache-2.0
// Runs of pages in one part of a heap, under the heap's lock. Free runs are in lists by size, with 32 sizes for each doubling. Kept runs still have
// their pages; clean runs have given them back and are merged with their neighbours. The last mapped page (seed) is never handed out: the mapping
// grows from it by mremap, so new pages have the seed's policy and not one that the program has set on a block.
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
  uint32_t first, top, mapped, end;  // numbers of pages in the window
  struct run_lists kept, clean;
};

// The number of the smallest list size that has at least `pages` pages; size_pages: the pages of a list size.
INLINE uint32_t size_number(uint32_t pages) {
  uint32_t bits = 31 - (uint32_t)__builtin_clz((pages - 1) | 32), shift = bits - 5;
  return 32 * shift + ((pages - 1) >> shift);
}
INLINE uint32_t size_pages(uint32_t number) {
  if (number < 64) return number + 1;
  uint32_t shift = number / 32 - 1;
  return (number % 32 + 33) << shift;
}

// The largest run, in pages, that a block of `pages` pages may take: larger ones would waste too much.
INLINE uint32_t closest_room(uint32_t pages) { return size_pages(size_number(pages + pages / 8)); }

// A file that begins at page `from` of the window. fd -1: none.
struct range_file {
  long fd;
  uint32_t from;
};

// Gives the range the pages [from, end) of the window and maps its seed. False: not possible.
bool range_open(struct range *range, uint32_t from, uint32_t end, struct range_file file);

void *range_seed(const struct range *range);

// Unmaps the spare pages behind the top: the seed is next to it then.
void range_trim(struct range *range);

// Return the first page of a run of at least `pages` pages, which is live then. The run is at a multiple of `align`
// pages. range_take_kept: a kept run that fits closely; kNoPage: none, or none among the last ones. range_take_clean: a run with nothing touched;
// kNoPage: no memory.
uint32_t range_take_kept(struct range *range, uint32_t pages, uint32_t align);
uint32_t range_take_clean(struct range *range, uint32_t pages, uint32_t align);

// Extends a live run in place to at least `pages` pages. False: not possible.
bool range_widen(struct range *range, uint32_t page, uint32_t pages);

// Shortens a live run to `room` pages. Requires: the pages that are cut off have been given back; they become a clean run.
void range_narrow(struct range *range, uint32_t page, uint32_t room);

void range_keep(struct range *range, uint32_t page);
void range_forget_kept(struct range *range, uint32_t page);

// Adds a run whose pages have been given back to the clean ones and merges it with clean neighbours. At the end of the range it becomes spare
// pages instead, which are unmapped when they are many.
void range_add_clean(struct range *range, uint32_t page);

#pragma GCC visibility pop
