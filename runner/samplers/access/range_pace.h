// SPDX-License-Identifier: Apache-2.0
// How many bytes one call clears, and how long the program is left alone after it. While such a call runs, calls that change the program's
// mappings wait for it, and page faults wait behind these. So a call that takes too long halves the range of the next ones, and after each
// call comes a pause in proportion to it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlrun::access {

class RangePace {
 public:
  static constexpr uint64_t kLongNs = 2'000'000;                 // a call that takes longer halves the range
  static constexpr uint64_t kShortNs = kLongNs / 4;              // several that take less double it
  static constexpr uint64_t kLeast = 2 << 20, kMost = 16 << 20;  // whole huge pages: others would be split
  static constexpr double kShare = 0.05;                         // of the time, at most, is in calls

  // `page_ps`: what clearing a page of 4 KiB takes, as calibrated.
  explicit RangePace(uint64_t page_ps = 0) {
    while (range_ > kLeast && range_ / 4096 * page_ps / 1000 > kLongNs / 2) range_ /= 2;
  }

  // The end of the next range of a mapping that is cleared up to `at`.
  [[nodiscard]] uint64_t end_of_range(uint64_t at, uint64_t mapping_end) const {
    return std::min(mapping_end, (at + range_) / kLeast * kLeast);
  }
  // A call over such a range took so long. Returns the pause after it.
  uint64_t took(uint64_t ns) {
    short_calls_ = ns < kShortNs ? short_calls_ + 1 : 0;
    if (ns > kLongNs) {
      range_ = std::max(kLeast, range_ / 2);
    } else if (short_calls_ == kShortCalls) {
      range_ = std::min(kMost, range_ * 2);
      short_calls_ = 0;
    }
    return static_cast<uint64_t>(static_cast<double>(ns) * (1 / kShare - 1));
  }
  [[nodiscard]] uint64_t range_bytes() const { return range_; }

 private:
  static constexpr int kShortCalls = 8;
  uint64_t range_ = kMost;
  int short_calls_ = 0;
};

}  // namespace mlrun::access
