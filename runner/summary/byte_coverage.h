// SPDX-License-Identifier: Apache-2.0
// Which bytes of a file were read at least once: exact extents while there are few, then touched 4 KiB pages (1 bit
// each), so that random reads all over a large file cost 2 MiB per 64 GiB. All files together share one budget; a read
// that finds it used up is not followed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runner/summary/flat_map.h"

namespace mlrun::summary {

// Memory for scattered reads, of all files.
struct CoverageBudget {
  int64_t left_bytes = int64_t{96} << 20;
  bool take(int64_t bytes) {
    if (left_bytes < bytes) return false;
    left_bytes -= bytes;
    return true;
  }
};

class ByteCoverage {
 public:
  static constexpr size_t kMaxExtents = 64;
  static constexpr int kPageBits = 12;

  // Adds [begin, end). false: no memory left, nothing was added. Requires: 0 <= begin < end.
  bool add(int64_t begin, int64_t end, CoverageBudget& budget);

  [[nodiscard]] int64_t bytes_added() const { return added_; }  // with repetitions
  [[nodiscard]] int64_t distinct_bytes() const;
  [[nodiscard]] bool by_page() const { return scattered_ && scattered_->by_page; }

 private:
  static constexpr int kChunkBits = 27;  // bytes of the file per bitmap
  struct Extent {
    int64_t begin = 0, end = 0;
  };
  struct Bitmap {
    std::array<uint64_t, (size_t{1} << (kChunkBits - kPageBits)) / 64> words{};
  };
  struct Scattered {
    std::vector<Extent> extents;  // disjoint, not even touching, sorted
    FlatMap<std::unique_ptr<Bitmap>> chunks;
    int64_t pages = 0;
    bool by_page = false;
  };

  bool add_extent(Extent extent);
  bool add_pages(Extent extent, CoverageBudget& budget);
  bool turn_to_pages(CoverageBudget& budget);

  Extent only_{};  // the whole set while it is one extent
  int64_t added_ = 0;
  std::unique_ptr<Scattered> scattered_;
};

}  // namespace mlrun::summary
