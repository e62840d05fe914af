// SPDX-License-Identifier: Apache-2.0
// Decides how many bytes one MADV_COLD call covers, and how long the pause after it is. While such a call runs, calls of the program that change
// its mappings wait, and page faults wait for those calls. So a call that takes too long halves the range of the next calls, and each call is
// followed by a pause in proportion to its time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlrun::access {

class RangePace {
 public:
  static constexpr uint64_t kLongNs = 2'000'000;                 // a call that takes longer halves the next range
  static constexpr uint64_t kShortNs = kLongNs / 4;              // kShortCalls calls in a row that take less double it
  static constexpr uint64_t kLeast = 2 << 20, kMost = 16 << 20;  // whole huge pages: others would be split
  static constexpr double kShare = 0.05;                         // largest share of the time that is spent in calls

  // `page_ps`: calibrated time to clear a page of 4 KiB.
  explicit RangePace(uint64_t page_ps = 0) {
    while (range_ > kLeast && range_ / 4096 * page_ps / 1000 > kLongNs / 2) range_ /= 2;
  }

  // The end of the next range, in a mapping whose bits are cleared up to `at`.
  [[nodiscard]] uint64_t end_of_range(uint64_t at, uint64_t mapping_end) const {
    return std::min(mapping_end, (at + range_) / kLeast * kLeast);
  }
  // To be called with the time that the call over this range took. Returns the pause after it.
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

 private:
  static constexpr int kShortCalls = 8;
  uint64_t range_ = kMost;
  int short_calls_ = 0;
};

}  // namespace mlrun::access
