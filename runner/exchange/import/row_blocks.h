// SPDX-License-Identifier: Apache-2.0
// Memory for rows of any size, which are never moved. Blocks are so small that malloc() reuses freed ones without calling the kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mlrun::exchange {

class RowBlocks {
 public:
  // Memory for `size` bytes, directly after the previous row if both fit one block.
  char* add(size_t size) {
    if (blocks_.empty() || used_ + size > blocks_[block_].size) next(size);
    char* place = blocks_[block_].bytes.get() + used_;
    used_ += size;
    bytes_ += size;
    return place;
  }
  // Bytes used by the rows.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  // Forgets the rows, and keeps the memory for others.
  void clear() { block_ = used_ = bytes_ = 0; }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  static constexpr size_t kLeast = size_t{64} << 10, kMost = size_t{1} << 20;

  void next(size_t size) {
    block_ = blocks_.empty() ? 0 : block_ + 1;
    used_ = 0;
    const auto place = blocks_.begin() + static_cast<ptrdiff_t>(block_);
    const auto fits = std::find_if(place, blocks_.end(), [&](const Block& block) { return block.size >= size; });
    if (fits != blocks_.end()) {
      std::swap(*place, *fits);
      return;
    }
    const size_t wanted = std::max(std::clamp(bytes_, kLeast, kMost), size);
    blocks_.insert(place, {std::make_unique_for_overwrite<char[]>(wanted), wanted});
  }

  std::vector<Block> blocks_;
  size_t block_ = 0, used_ = 0;  // the block that is filled, and how far
  size_t bytes_ = 0;
};

}  // namespace mlrun::exchange
