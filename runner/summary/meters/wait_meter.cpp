// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/wait_meter.h"

#include <algorithm>

#include "runner/decode/func_names.h"

namespace mlrun::summary {

std::vector<WaitSummary> WaitMeter::waits() const {
  std::vector<WaitSummary> out;
  for (const auto& [func, sum] : sums_) out.push_back({func, decode::func_name(func), sum.calls, sum.time_ns});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return b.time_ns < a.time_ns; });
  return out;
}

}  // namespace mlrun::summary
