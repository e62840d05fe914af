// SPDX-License-Identifier: Apache-2.0
// Open file number -> file. Threads take numbers in batches of sixteen, so a page table stores most of them in a few
// bytes each; implausibly large numbers go to a hash map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runner/decode/limits.h"
#include "runner/util/flat_map.h"
#include "runner/util/scrambled.h"

namespace mlrun::trace {

struct OpenFile {
  uint32_t file_id = 0;  // 0: unknown
  bool found = false;    // first seen as a descriptor, not opened: its offset is unknown
  bool appends = false;  // a found descriptor opened with O_APPEND
};

class OpenFileMap {
 public:
  // The first file added under a number stays. Requires: file_id < 2^30.
  void add(uint32_t number, OpenFile file) {
    if (count_ >= decode::kOpenFilesMax) return;
    ++count_;
    const uint32_t packed = file.file_id << 2 | (file.appends ? 2u : 0u) | (file.found ? 1u : 0u);
    uint32_t& place =
        number / kPage < kFirstPages + 4 * count_ / kPage ? dense(number) : sparse_.at(util::scrambled(number));
    if (place == 0) place = packed;
  }

  [[nodiscard]] OpenFile find(uint32_t number) {
    const size_t page = number / kPage;
    uint32_t packed = page < pages_.size() && pages_[page] ? (*pages_[page])[number % kPage] : 0;
    if (packed == 0 && sparse_.size() != 0) {
      const uint32_t* place = sparse_.find(util::scrambled(number));
      packed = place ? *place : 0;
    }
    return {packed >> 2, (packed & 1) != 0, (packed & 2) != 0};
  }

 private:
  static constexpr size_t kPage = 16384, kFirstPages = 64;

  uint32_t& dense(uint32_t number) {
    const size_t page = number / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<std::array<uint32_t, kPage>>();
    return (*pages_[page])[number % kPage];
  }

  std::vector<std::unique_ptr<std::array<uint32_t, kPage>>> pages_;
  util::FlatMap<uint32_t> sparse_;
  size_t count_ = 0;
};

}  // namespace mlrun::trace
