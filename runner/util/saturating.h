// SPDX-License-Identifier: Apache-2.0
// Sums of untrusted numbers from a trace: they stop at the largest value instead of overflowing.
#pragma once

#include <cstdint>

namespace mlrun::util {

inline void add_to(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = value < 0 ? INT64_MIN : INT64_MAX;
}

[[nodiscard]] inline int64_t capped(uint64_t value) {
  return value < INT64_MAX ? static_cast<int64_t>(value) : INT64_MAX;
}

[[nodiscard]] inline int64_t sum_of(int64_t sum, int64_t value) {
  add_to(sum, value);
  return sum;
}

}  // namespace mlrun::util
