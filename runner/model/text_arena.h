// SPDX-License-Identifier: Apache-2.0
// Stores many short texts at stable addresses until it is destroyed. Beyond some megabytes they may be spilled to a
// file (util/spilled_memory.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/util/spilled_memory.h"

namespace mlrun::model {

class TextArena {
 public:
  // Returns a copy of `text` that lives as long as the arena.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > left_) grow(text.size());
    char* at = chunks_.back().get() + (chunks_.back().get_deleter().bytes - left_);
    std::memcpy(at, text.data(), text.size());
    left_ -= text.size();
    kept_bytes_ += text.size();
    return {at, text.size()};
  }

  [[nodiscard]] size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct GiveBack {
    size_t bytes = 0;
    void operator()(char* chunk) const { util::SpillAllocator<char>().deallocate(chunk, bytes); }
  };
  static constexpr size_t kChunkBytesMin = size_t{256} << 10, kChunkBytesMax = size_t{16} << 20;

  // Blocks grow with the total, so that few are needed and little is left unused.
  void grow(size_t at_least) {
    const size_t usual = std::clamp(std::bit_floor(kept_bytes_ / 2), kChunkBytesMin, kChunkBytesMax);
    left_ = std::max(usual, at_least);
    chunks_.emplace_back(util::SpillAllocator<char>().allocate(left_), GiveBack{left_});
  }

  std::vector<std::unique_ptr<char[], GiveBack>> chunks_;
  size_t left_ = 0, kept_bytes_ = 0;
};

}  // namespace mlrun::model
