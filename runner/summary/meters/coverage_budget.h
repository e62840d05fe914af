// SPDX-License-Identifier: Apache-2.0
// Memory for the coverage of scattered reads, shared by all files. Bitmaps are adjacent in slabs of huge pages: access
// is random and would otherwise cost a TLB miss each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "runner/util/huge_pages.h"

namespace mlrun::summary {

// One bit for each 4 KiB page of a part of a file.
struct PageBitmap {
  static constexpr size_t kPages = size_t{1} << 15;
  std::array<uint64_t, kPages / 64> words{};
};

class CoverageBudget {
 public:
  explicit CoverageBudget(int64_t bytes = int64_t{96} << 20) : left_bytes_(bytes) {}

  bool take(int64_t bytes) {
    if (left_bytes_ < bytes) return false;
    left_bytes_ -= bytes;
    return true;
  }

  // Zeroed, valid for the life of the budget; nullptr: no memory left.
  PageBitmap* take_bitmap() {
    if (!take(int64_t(sizeof(PageBitmap)))) return nullptr;
    if (!unused_.empty()) {
      PageBitmap* bitmap = new (unused_.back()) PageBitmap;
      unused_.pop_back();
      return bitmap;
    }
    if (slabs_.empty() || next_ == kPerSlab) {
      slabs_.emplace_back(util::HugePageAllocator<PageBitmap>().allocate(kPerSlab));
      next_ = 0;
    }
    return new (slabs_.back().get() + next_++) PageBitmap;
  }
  void give_back(PageBitmap* bitmap) {
    unused_.push_back(bitmap);
    left_bytes_ += int64_t(sizeof(PageBitmap));
  }

 private:
  static constexpr size_t kPerSlab = (size_t{4} << 20) / sizeof(PageBitmap);
  struct Free {
    void operator()(PageBitmap* slab) const { util::HugePageAllocator<PageBitmap>().deallocate(slab, kPerSlab); }
  };

  int64_t left_bytes_;
  size_t next_ = 0;  // next free bitmap of the last slab
  std::vector<std::unique_ptr<PageBitmap, Free>> slabs_;
  std::vector<PageBitmap*> unused_;
};

}  // namespace mlrun::summary
