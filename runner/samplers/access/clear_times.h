// SPDX-License-Identifier: Apache-2.0
// When the bits of a process were cleared, range by range with pauses in between. Each range has its own moment, which may lie seconds before
// that of the last one: what a mapping shows as touched was touched since its ranges were cleared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mlrun::access {

class ClearTimes {
 public:
  void reset() { ranges_.clear(); }
  // Requires: ranges come in order of address and do not overlap.
  void add(uint64_t start, uint64_t end, uint64_t now_ns) { ranges_.push_back({start, end, now_ns}); }

  // The mean moment, by bytes, at which the ranges inside [start, end) were cleared; `otherwise_ns`: none is there.
  [[nodiscard]] uint64_t mean_ns(uint64_t start, uint64_t end, uint64_t otherwise_ns) const {
    auto at =
        std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.end <= start; });
    double bytes = 0, before_ns = 0;  // before otherwise_ns: a moment itself has more digits than a double
    for (; at != ranges_.end() && at->start < end; ++at) {
      const auto inside = static_cast<double>(std::min(end, at->end) - std::max(start, at->start));
      bytes += inside;
      before_ns += inside * static_cast<double>(otherwise_ns - std::min(at->cleared_ns, otherwise_ns));
    }
    return bytes <= 0 ? otherwise_ns : otherwise_ns - static_cast<uint64_t>(before_ns / bytes);
  }

 private:
  struct Range {
    uint64_t start, end, cleared_ns;
  };
  std::vector<Range> ranges_;
};

}  // namespace mlrun::access
