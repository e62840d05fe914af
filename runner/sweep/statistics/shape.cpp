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
  const Moments all = moments(values);
  const double squares = all.sd * all.sd * static_cast<double>(n - 1);
  double below = 0;  // sum of the lower group's distances from the mean; the upper group's is its negative
  for (size_t split = 1; split + fewest <= n; ++split) {
    below += values[split - 1] - all.mean;
    if (split < fewest) continue;
    const double gap = values[split] - values[split - 1];
    const double between = below * below * (1 / static_cast<double>(split) + 1 / static_cast<double>(n - split));
    const double within = std::max(0.0, squares - between);
    if (gap > 0 && gap >= needed * std::sqrt(within / static_cast<double>(n - 2))) return true;
  }
  return false;
}

}  // namespace mlrun::sweep
