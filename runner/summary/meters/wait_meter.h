// SPDX-License-Identifier: Apache-2.0
// In which functions a process waited, and for how long, added up over its threads.
#pragma once

#include <map>
#include <vector>

#include "runner/model/rows.h"
#include "runner/summary/summary.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

class WaitMeter {
 public:
  void add(const model::CallRow& row) { add(row.func, 1, row.dur_ns); }
  void add(uint16_t func, int64_t calls, int64_t time_ns) {
    Sum& sum = sums_[func];
    util::add_to(sum.calls, calls);
    util::add_to(sum.time_ns, time_ns);
  }

  [[nodiscard]] std::vector<WaitSummary> waits() const;  // by time

 private:
  struct Sum {
    int64_t calls = 0, time_ns = 0;
  };
  std::map<uint16_t, Sum> sums_;  // by number in hooks.def; a process uses a handful
};

}  // namespace mlrun::summary
