// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/estimate.h"

#include <numeric>

#include <gtest/gtest.h>

namespace mlrun::bench {
namespace {

std::vector<double> first_numbers(size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.rbegin(), numbers.rend(), 1.0);
  return numbers;
}

TEST(EstimateTest, TheMedianIsTheMiddleOrTheMeanOfBoth) {
  EXPECT_EQ(estimate({3, 1, 2}).median, 2);
  EXPECT_EQ(estimate({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(estimate({7}).median, 7);
}

// Ranks of the table of Dixon and Mood for the sign test, two-sided 5 %.
TEST(EstimateTest, TheIntervalLeavesOutWhatTheSignTestAllows) {
  struct Known {
    size_t figures, low_rank;
  };
  for (const Known known : {Known{5, 1}, Known{6, 1}, Known{9, 2}, Known{15, 4}, Known{25, 8}, Known{101, 41}}) {
    const Estimate e = estimate(first_numbers(known.figures));
    EXPECT_EQ(e.low, double(known.low_rank)) << known.figures;
    EXPECT_EQ(e.high, double(known.figures + 1 - known.low_rank)) << known.figures;
    EXPECT_EQ(e.figures, known.figures);
  }
}

TEST(EstimateTest, AFigureWithAnIntervalThatContains0OrIsWiderThanItselfIsUncertain) {
  EXPECT_TRUE(is_uncertain({5, -0.1, 9, 7}));
  EXPECT_TRUE(is_uncertain({5, 2, 7.5, 7}));
  EXPECT_FALSE(is_uncertain({5, 3, 7, 7}));
  EXPECT_TRUE(is_useless({5, -8, 9, 7}));
  EXPECT_TRUE(is_useless({-1, -2, 0, 7}));
  EXPECT_FALSE(is_useless({5, -1, 9, 7}));
}

}  // namespace
}  // namespace mlrun::bench
