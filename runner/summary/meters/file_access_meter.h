// SPDX-License-Identifier: Apache-2.0
// Distinguishes sequential transfers from jumps, per open file description and direction. Keeps the positions of at
// least the kKept most recently used descriptions; an evicted one restarts at offset 0.
#pragma once

#include <array>
#include <cstdint>

#include "runner/summary/meters/call_facts.h"
#include "runner/summary/summary.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

class FileAccessMeter {
 public:
  static constexpr size_t kKept = size_t{1} << 17;

  // Optional: loads the description's slot into the CPU cache. Call it some rows before transfer().
  void prefetch(int64_t ofd_id) const {
    if (ofd_id != 0) recent_.prefetch(uint64_t(ofd_id));
  }

  // The file was opened with O_APPEND: its first write is sequential at any offset.
  void opened_for_append(int64_t ofd_id);

  // Requires: bytes > 0. offset < 0: the offset is unknown.
  Order transfer(Direction direction, int64_t ofd_id, int64_t offset, int64_t bytes);

  [[nodiscard]] const std::array<FileAccessPattern, 2>& patterns() const { return patterns_; }

 private:
  static constexpr int64_t kAnywhere = -1;
  struct Position {
    std::array<int64_t, 2> next{};  // by direction: offset at which a transfer is sequential
  };

  Position& position(uint64_t ofd_id);

  util::FlatMap<Position> recent_, older_;  // two generations: the older one is dropped when the recent one is full
  std::array<FileAccessPattern, 2> patterns_{};
};

}  // namespace mlrun::summary
