// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/byte_coverage.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runner/util/saturating.h"

namespace mlrun::summary {

bool ByteCoverage::add(int64_t begin, int64_t end, CoverageBudget& budget) {
  const Extent extent{begin, end};
  if (!scattered_) {
    if (only_.end == 0) {
      only_ = extent;
      util::add_to(added_, end - begin);
      return true;
    }
    if (begin <= only_.end && end >= only_.begin) {
      only_ = {std::min(begin, only_.begin), std::max(end, only_.end)};
      util::add_to(added_, end - begin);
      return true;
    }
    if (!budget.take(int64_t(sizeof(Scattered) + kMaxExtents * sizeof(Extent)))) return false;
    scattered_ = std::make_unique<Scattered>();
    scattered_->extents.reserve(kMaxExtents);
    scattered_->extents.push_back(only_);
  }
  const bool done = (!scattered_->by_page && add_extent(extent)) ||
                    ((scattered_->by_page || turn_to_pages(budget)) && add_pages(extent, budget));
  if (done) util::add_to(added_, end - begin);
  return done;
}

// Returns false if there are too many extents.
bool ByteCoverage::add_extent(Extent extent) {
  auto& extents = scattered_->extents;
  const auto first = std::lower_bound(extents.begin(), extents.end(), extent.begin,
                                      [](const Extent& e, int64_t at) { return e.end < at; });
  auto last = first;
  while (last != extents.end() && last->begin <= extent.end) ++last;
  if (first == last) {
    if (extents.size() == kMaxExtents) return false;
    extents.insert(first, extent);
    return true;
  }
  *first = {std::min(first->begin, extent.begin), std::max(std::prev(last)->end, extent.end)};
  extents.erase(std::next(first), last);
  return true;
}

bool ByteCoverage::turn_to_pages(CoverageBudget& budget) {
  scattered_->by_page = true;
  auto extents = std::exchange(scattered_->extents, {});
  if (std::all_of(extents.begin(), extents.end(), [&](const Extent& e) { return add_pages(e, budget); })) return true;
  scattered_->by_page = false;
  scattered_->chunks.for_each([&](uint64_t, PageBitmap* bitmap) {
    if (bitmap) budget.give_back(bitmap);
  });
  scattered_->chunks.clear();
  scattered_->pages = 0;
  scattered_->extents = std::move(extents);
  return false;
}

bool ByteCoverage::add_pages(Extent extent, CoverageBudget& budget) {
  const int64_t last = (extent.end - 1) >> kPageBits;
  for (int64_t page = extent.begin >> kPageBits; page <= last;) {
    const int64_t stop = std::min(last + 1, (page / kPagesPerChunk + 1) * kPagesPerChunk);
    auto& bitmap = scattered_->chunks.at(chunk_of(page << kPageBits));
    if (!bitmap) bitmap = budget.take_bitmap();
    if (!bitmap) return false;
    while (page < stop) {
      const int64_t bit = page % 64;
      const int64_t bits = std::min(stop - page, 64 - bit);
      const uint64_t mask = (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << bit;
      uint64_t& word = bitmap->words[size_t(page % kPagesPerChunk) / 64];
      scattered_->pages += std::popcount(mask & ~word);
      word |= mask;
      page += bits;
    }
  }
  return true;
}

int64_t ByteCoverage::distinct_bytes() const {
  if (!scattered_) return only_.end - only_.begin;
  if (scattered_->by_page) return std::min(added_, scattered_->pages << kPageBits);
  int64_t sum = 0;
  for (const Extent& e : scattered_->extents) sum += e.end - e.begin;
  return sum;
}

}  // namespace mlrun::summary
