// SPDX-License-Identifier: Apache-2.0
// Which bytes of a file were read at least once: exact extents while there are few, then touched 4 KiB pages (1 bit
// each), so that random reads all over a large file cost 2 MiB per 64 GiB. All files share one budget; reads
// beyond it are not tracked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runner/summary/meters/coverage_budget.h"
#include "runner/util/flat_map.h"
#include "runner/util/prefetch.h"

namespace mlrun::summary {

class ByteCoverage {
 public:
  static constexpr size_t kMaxExtents = 64;
  static constexpr int kPageBits = 12;

  // Adds [begin, end). Returns false if the budget has no memory left: bytes_added() is then the same, but some pages of the extent may be marked.
  // Requires: 0 <= begin < end; the same budget in every call, which must outlive the use of the coverage.
  bool add(int64_t begin, int64_t end, CoverageBudget& budget);

  // Optional: call it some rows before add() of an extent that begins there.
  void prefetch(int64_t begin) const {
    if (!scattered_ || begin < 0) return;
    const auto* bitmap = scattered_->chunks.find(chunk_of(begin));
    if (bitmap != nullptr && *bitmap) util::prefetch(&(*bitmap)->words[word_of(begin)]);
  }

  [[nodiscard]] int64_t bytes_added() const { return added_; }  // a byte read twice counts twice
  [[nodiscard]] int64_t distinct_bytes() const;
  [[nodiscard]] bool by_page() const { return scattered_ && scattered_->by_page; }

 private:
  struct Extent {
    int64_t begin = 0, end = 0;
  };
  struct Scattered {
    std::vector<Extent> extents;        // disjoint, not adjacent, sorted
    util::FlatMap<PageBitmap*> chunks;  // in the budget's memory
    int64_t pages = 0;
    bool by_page = false;
  };

  static constexpr int64_t kPagesPerChunk = int64_t{PageBitmap::kPages};
  static uint64_t chunk_of(int64_t at) { return uint64_t((at >> kPageBits) / kPagesPerChunk) + 1; }
  static size_t word_of(int64_t at) { return size_t((at >> kPageBits) % kPagesPerChunk) / 64; }

  bool add_extent(Extent extent);
  bool add_pages(Extent extent, CoverageBudget& budget);
  bool turn_to_pages(CoverageBudget& budget);

  Extent only_{};  // the whole set while it is one extent
  int64_t added_ = 0;
  std::unique_ptr<Scattered> scattered_;
};

}  // namespace mlrun::summary
