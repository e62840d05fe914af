// SPDX-License-Identifier: Apache-2.0
#include "runner/util/log_histogram.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(LogHistogramTest, IsZeroWhenEmpty) {
  const LogHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(LogHistogramTest, IsExactForZero) {
  LogHistogram histogram;
  histogram.add(0, 1000);
  for (const double q : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(histogram.quantile(q), 0);
}

TEST(LogHistogramTest, IsExactForEqualValues) {
  for (const int64_t value : {int64_t{1}, int64_t{31}, int64_t{33}, int64_t{123'456'789}, INT64_MAX}) {
    LogHistogram histogram;
    histogram.add(value, 100);
    for (const double q : {0.0, 0.5, 0.95, 0.99, 1.0}) EXPECT_EQ(histogram.quantile(q), value);
  }
}

TEST(LogHistogramTest, KeepsTheRelativeErrorBelowOneIn64) {
  std::mt19937_64 random(7);
  std::vector<int64_t> values;
  LogHistogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(int64_t(std::exp(double(random() % 300) / 10)) + int64_t(random() % 7));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999}) {
    const auto exact = double(values[size_t(std::ceil(q * double(values.size()))) - 1]);
    EXPECT_LE(std::abs(double(histogram.quantile(q)) - exact), exact / 64 + 0.5) << q;
  }
}

TEST(LogHistogramTest, TakesNearestRank) {
  LogHistogram histogram;
  for (int64_t value = 1; value <= 20; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.5), 10);
  EXPECT_EQ(histogram.quantile(0.51), 11);
  EXPECT_EQ(histogram.quantile(0.95), 19);
  EXPECT_EQ(histogram.quantile(0.99), 20);
}

TEST(LogHistogramTest, AddsUp) {
  LogHistogram a, b, both;
  for (int64_t value = 1; value < 100'000; value = value * 3 / 2 + 1) {
    (value % 2 == 0 ? a : b).add(value);
    both.add(value);
  }
  a.add(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.min(), both.min());
  EXPECT_EQ(a.max(), both.max());
  for (const double q : {0.1, 0.5, 0.9}) EXPECT_EQ(a.quantile(q), both.quantile(q));
}

TEST(LogHistogramTest, HasBucketsThatMeet) {
  for (size_t i = 0; i + 1 < LogHistogram::kBuckets; ++i) {
    const int64_t low = LogHistogram::bucket_low(i), next = LogHistogram::bucket_low(i + 1);
    ASSERT_LT(low, next);
    ASSERT_EQ(LogHistogram::bucket_of(low), i);
    ASSERT_EQ(LogHistogram::bucket_of(next - 1), i);
  }
  EXPECT_EQ(LogHistogram::bucket_of(INT64_MAX), LogHistogram::kBuckets - 1);
}

TEST(LogHistogramTest, CutsNumbersThatNoHistogramHas) {
  const LogHistogram histogram = LogHistogram::restore({-5, INT64_MAX, INT64_MAX}, 9, -3);
  EXPECT_GT(histogram.count(), 0);
  EXPECT_EQ(histogram.quantile(0.5), 9);
  LogHistogram negative;
  negative.add(-7);
  EXPECT_EQ(negative.quantile(0.5), 0);
}

}  // namespace
}  // namespace mlrun::util
