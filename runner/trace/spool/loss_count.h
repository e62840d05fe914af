// SPDX-License-Identifier: Apache-2.0
// Counts, per process, how often records were lost. A tracker that derives state from record to record stores the count
// with its state; if the count is higher at a later record, the state is stale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runner/util/flat_map.h"

namespace mlrun::trace {

// From this moment on, state tracked for the process (0: all processes) is stale.
struct PositionLoss {
  int64_t ts_ns = 0;
  int32_t proc_id = 0;
};

class LossCount {
 public:
  explicit LossCount(std::vector<PositionLoss> losses) : losses_(std::move(losses)) {
    std::stable_sort(losses_.begin(), losses_.end(), [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  }

  // Counts the losses until `ts_ns`. Requires: calls in order of `ts_ns`.
  void pass(int64_t ts_ns) {
    for (; next_ < losses_.size() && losses_[next_].ts_ns <= ts_ns; ++next_) add(losses_[next_].proc_id);
  }
  void add(int32_t proc_id) { ++(proc_id == 0 ? of_all_ : by_process_.at(static_cast<uint64_t>(proc_id))); }

  [[nodiscard]] uint32_t of(int32_t proc_id) {
    const uint32_t* own = proc_id == 0 ? nullptr : by_process_.find(static_cast<uint64_t>(proc_id));
    return of_all_ + (own ? *own : 0);
  }

 private:
  std::vector<PositionLoss> losses_;
  size_t next_ = 0;
  uint32_t of_all_ = 0;
  util::FlatMap<uint32_t> by_process_;
};

}  // namespace mlrun::trace
