// SPDX-License-Identifier: Apache-2.0
// Where a ratio cuts a run or a mapping: into equal cycles, and each cycle into one piece for each share. A piece becomes a mapping of the kernel.
// A piece has 64 KiB or more, unless all of it is too small for one cycle of such pieces. With `huge` a piece is of whole huge pages, which the
// kernel makes only inside a mapping; what is too small for one cycle of those is one cycle that is exact to a page.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"

enum { kPiecePages = 16, kHugePages = 512, kCyclesMax = 64 };

struct ratio_cut {
  uint64_t first, pages;  // in pages; first: from address 0
  uint64_t all, cycles;   // all: sum of the shares
  uint64_t unit;          // pieces end at multiples of so many pages
};

// is_few: as few pieces as possible.
INLINE struct ratio_cut cut_by_ratio(uint64_t first, uint64_t pages, uint64_t all, bool is_huge, bool is_few) {
  bool by_huge_pages = is_huge && pages >= kHugePages;
  uint64_t cycles = pages / (all * (by_huge_pages ? kHugePages : kPiecePages));
  uint64_t unit = by_huge_pages && cycles ? kHugePages : 1;
  if (cycles > kCyclesMax) cycles = kCyclesMax;
  if (!cycles || is_few) cycles = 1;
  struct ratio_cut cut = {first, pages, all, cycles, unit};
  return cut;
}

// Page, counted from the first one, at which the piece ends that brings the sum of the shares so far, over all cycles, to `given`.
INLINE uint64_t ratio_end(const struct ratio_cut *cut, uint64_t given) {
  uint64_t steps = cut->all * cut->cycles, end = (given * cut->pages + steps / 2) / steps;
  if (given == steps) return cut->pages;
  uint64_t rounded = (cut->first + end + cut->unit / 2) / cut->unit * cut->unit;
  if (rounded <= cut->first) return 0;
  return rounded - cut->first < cut->pages ? rounded - cut->first : cut->pages;
}
