// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_gaps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlrun::blame {

double share_of(const std::vector<double>& values, double low, double high) {
  const auto inside =
      std::count_if(values.begin(), values.end(), [&](double one) { return one >= low && one <= high; });
  return values.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(values.size());
}

std::optional<double> gap_between_steps(std::vector<double> gaps, double least_ns,
                                        const std::function<std::optional<bool>(double, double)>& is_loading) {
  constexpr double kFirstNs = 300'000, kFactor = 1.25, kApart = 1.6, kInBetweenMost = 0.02;
  constexpr int kGaps = 55;  // number of gap lengths that are tried, from 0.3 ms to a minute
  std::sort(gaps.begin(), gaps.end());
  const auto count_from = [&](double ns) {
    return static_cast<size_t>(gaps.end() - std::lower_bound(gaps.begin(), gaps.end(), ns));
  };
  std::vector<double> levels;
  double first_ns = 0;
  for (int k = 0; k < kGaps; ++k) {
    const double at_ns = kFirstNs * std::pow(kFactor, k);
    const size_t above = count_from(at_ns), between = count_from(at_ns / kApart) - count_from(at_ns * kApart);
    const bool divides = at_ns >= least_ns && above + 1 >= kStepsMin &&
                         static_cast<double>(between) <= kInBetweenMost * static_cast<double>(above);
    if (!divides) {
      first_ns = 0;
      continue;
    }
    if (first_ns == 0) {
      first_ns = at_ns;
      levels.push_back(at_ns);
    }
    levels.back() = std::sqrt(first_ns * at_ns);
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    const double high_ns = i + 1 < levels.size() ? levels[i + 1] : std::numeric_limits<double>::infinity();
    const size_t inside = count_from(levels[i]) - (i + 1 < levels.size() ? count_from(high_ns) : 0);
    if (inside + 1 < kStepsMin) continue;
    if (gaps[gaps.size() - count_from(levels[i]) + inside / 2] < kComputeMinNs) continue;
    const auto loads = is_loading(levels[i], high_ns);
    if (loads && *loads) continue;
    if (!loads && i + 1 < levels.size()) return std::nullopt;
    return levels[i];
  }
  return std::nullopt;
}

}  // namespace mlrun::blame
