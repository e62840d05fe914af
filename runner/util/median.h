// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace mlrun::util {

// The middle value, of an even number of values the upper of the two middle ones: always a value that occurs. 0 if there is none.
template <typename T>
T upper_median(std::vector<T> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The middle value, of an even number of values the mean of the two middle ones. 0 if there is none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 != 0 ? *middle : std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace mlrun::util
