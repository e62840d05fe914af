// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {

bool is_bimodal(std::span<const double> sorted) {
  const size_t n = sorted.size();
  if (n < 8) return false;
  std::vector<double> values(sorted.begin(), sorted.end());
  if (sorted.front() > 0) {
    std::transform(values.begin(), values.end(), values.begin(), [](double value) { return std::log(value); });
  }
  const size_t fewest = std::max<size_t>(3, (n + 4) / 5);
  const double needed = 2.5 + 20 / static_cast<double>(n);
  const std::span<const double> all = values;
  for (size_t split = fewest; split + fewest <= n; ++split) {
    const double gap = all[split] - all[split - 1];
    if (gap <= 0) continue;
    const Moments low = moments(all.first(split));
    const Moments high = moments(all.subspan(split));
    const double squares =
        low.sd * low.sd * static_cast<double>(low.n - 1) + high.sd * high.sd * static_cast<double>(high.n - 1);
    if (gap >= needed * std::sqrt(squares / static_cast<double>(n - 2))) return true;
  }
  return false;
}

}  // namespace mlrun::sweep
