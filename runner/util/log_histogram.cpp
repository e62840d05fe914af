// SPDX-License-Identifier: Apache-2.0
#include "runner/util/log_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mlrun::util {

void LogHistogram::add(int64_t value, int64_t count) {
  value = std::max<int64_t>(value, 0);
  const size_t index = bucket_of(value);
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += count;
  count_ += count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void LogHistogram::add(const LogHistogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

int64_t LogHistogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = std::clamp<int64_t>(int64_t(std::ceil(q * double(count_))), 1, count_);
  if (rank == 1) return min_;
  if (rank == count_) return max_;
  int64_t below = 0;
  size_t index = 0;
  while (below + counts_[index] < rank) below += counts_[index++];
  const int64_t low = bucket_low(index);
  return std::clamp(low + (bucket_low(index + 1) - 1 - low) / 2, min_, max_);
}

int64_t LogHistogram::bucket_low(size_t index) {
  if (index >= kBuckets) return INT64_MAX;
  if (index < size_t(kLinearLimit)) return int64_t(index);
  const auto doubling = int(index >> kSubBits);
  return (kLinearLimit + int64_t(index & (kLinearLimit - 1))) << (doubling - 1);
}

LogHistogram LogHistogram::restore(std::vector<int64_t> counts, int64_t min, int64_t max) {
  LogHistogram histogram;
  histogram.counts_ = std::move(counts);
  for (int64_t& n : histogram.counts_) histogram.count_ += n = std::clamp<int64_t>(n, 0, kMostPerBucket);
  histogram.min_ = std::max<int64_t>(min, 0);
  histogram.max_ = std::max(max, histogram.min_);
  return histogram;
}

}  // namespace mlrun::util
