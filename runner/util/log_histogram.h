// SPDX-License-Identifier: Apache-2.0
// Histogram of non-negative numbers with a bounded relative error; histograms can be merged. Values below 32 have a
// bucket each; above, every doubling is divided into 32 buckets, so a bucket's middle is within 1/64 (1.6 %) of every
// value in it. A quantile is clamped to [min, max] of the added values, so it is exact for zero and for equal values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlrun::util {

class LogHistogram {
 public:
  static constexpr int kSubBits = 5;
  static constexpr int64_t kLinearLimit = int64_t{1} << kSubBits;
  static constexpr size_t kBuckets = size_t(63 - kSubBits + 1) << kSubBits;

  // Negative values count as 0.
  void add(int64_t value, int64_t count = 1);
  void add(const LogHistogram& other);

  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] int64_t min() const { return count_ ? min_ : 0; }
  [[nodiscard]] int64_t max() const { return count_ ? max_ : 0; }

  // Nearest rank: the smallest value that at least ceil(q * count) of the added values do not exceed. 0 when empty.
  // Requires: 0 <= q <= 1.
  [[nodiscard]] int64_t quantile(double q) const;

  // For tables: bucket `index` holds values in [bucket_low, bucket_low of the next).
  [[nodiscard]] int64_t bucket_count(size_t index) const { return index < counts_.size() ? counts_[index] : 0; }
  [[nodiscard]] static size_t bucket_of(int64_t value) {
    if (value < kLinearLimit) return value < 0 ? 0 : size_t(value);
    const int top = 63 - std::countl_zero(uint64_t(value));
    return (size_t(top - kSubBits + 1) << kSubBits) + size_t(value >> (top - kSubBits) & (kLinearLimit - 1));
  }
  [[nodiscard]] static int64_t bucket_low(size_t index);
  // Restores from bucket_count, min and max; clamps invalid numbers. Requires: counts has at
  // most kBuckets entries.
  static LogHistogram restore(std::vector<int64_t> counts, int64_t min, int64_t max);

 private:
  static constexpr int64_t kMostPerBucket = INT64_MAX / int64_t(kBuckets);

  std::vector<int64_t> counts_;  // by bucket, up to the largest bucket in use
  int64_t count_ = 0;
  int64_t min_ = INT64_MAX;
  int64_t max_ = 0;
};

}  // namespace mlrun::util
