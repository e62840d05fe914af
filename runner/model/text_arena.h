// SPDX-License-Identifier: Apache-2.0
// Keeps many short texts at fixed addresses until it is destroyed: no text is ever moved or freed alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace mlrun::model {

class TextArena {
 public:
  // A copy of `text` that lives as long as the arena.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > left_) grow(text.size());
    char* at = chunks_.back().get() + (chunk_bytes_ - left_);
    std::memcpy(at, text.data(), text.size());
    left_ -= text.size();
    kept_bytes_ += text.size();
    return {at, text.size()};
  }

  [[nodiscard]] size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kChunkBytes = size_t{256} << 10;

  void grow(size_t at_least) {
    chunk_bytes_ = std::max(kChunkBytes, at_least);
    chunks_.emplace_back(new char[chunk_bytes_]);
    left_ = chunk_bytes_;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_bytes_ = 0, left_ = 0, kept_bytes_ = 0;
};

}  // namespace mlrun::model
