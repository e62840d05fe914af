// SPDX-License-Identifier: Apache-2.0
// Bytes and I/O time over time, in at most kMaxBins bins of equal width, which doubles as the run continues. A call's
// bytes are spread evenly over its duration.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runner/summary/summary.h"

namespace mlrun::summary {

class Timeline {
 public:
  static constexpr size_t kMaxBins = 600;
  static constexpr int64_t kFirstBinNs = 1'000'000;

  // start_ns 0: the start of the first call. A call that begins earlier counts as beginning at start_ns.
  explicit Timeline(int64_t start_ns) : start_ns_(start_ns) {}
  // Continues from stored bins. Requires: at most kMaxBins of them; bin_ns > 0.
  Timeline(int64_t start_ns, int64_t bin_ns, std::vector<TimeBin> bins)
      : start_ns_(start_ns), bin_ns_(bin_ns), bins_(std::move(bins)) {}

  void add(int64_t ts_ns, int64_t dur_ns, int64_t bytes_read, int64_t bytes_written);

  [[nodiscard]] int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] int64_t bin_ns() const { return bin_ns_; }
  [[nodiscard]] const std::vector<TimeBin>& bins() const { return bins_; }

 private:
  void widen();

  int64_t start_ns_;
  int64_t bin_ns_ = kFirstBinNs;
  std::vector<TimeBin> bins_;
};

}  // namespace mlrun::summary
