// SPDX-License-Identifier: Apache-2.0
// The weight of a sampled allocation. With one byte in `sample_bytes` picked at random, a block of s bytes is recorded
// with probability 1 - exp(-s / sample_bytes); with the reciprocal as weight, the recorded blocks of any kind add up to
// an unbiased estimate of all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mlrun::summary {

// sample_bytes 0: no sampling.
[[nodiscard]] inline double sample_weight(int64_t bytes, int64_t sample_bytes) {
  if (sample_bytes <= 0) return 1;
  return -1 / std::expm1(-double(std::max<int64_t>(bytes, 1)) / double(sample_bytes));
}

}  // namespace mlrun::summary
