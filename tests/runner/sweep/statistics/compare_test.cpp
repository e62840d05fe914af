// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {
namespace {

Series in_blocks(const std::vector<double>& values) {
  Series series;
  for (const double value : values) {
    const auto block = static_cast<int32_t>(series.size()) + 1;
    series.push_back({block, block, value});
  }
  return series;
}

Comparison compare_values(const std::vector<double>& a, const std::vector<double>& b,
                          const ComparisonOptions& options = {}) {
  return compare(in_blocks(a), in_blocks(b), options);
}

TEST(Compare, ABlockThatIsSlowForBothDoesNotHideTheDifference) {
  const std::vector<double> a{10, 20, 30, 40}, b{11.01, 21.98, 33.02, 44.01};
  const Comparison paired = compare_values(a, b);
  EXPECT_EQ(paired.verdict, Verdict::kDiffers);
  EXPECT_STREQ(method_name(paired.method), "paired t, logs");
  EXPECT_EQ(paired.pairs, 4);
  EXPECT_NEAR(paired.difference, 0.1, 0.001);
  EXPECT_LT(paired.high, 0.102);
  const Comparison unpaired = compare_values(a, b, {.by_block = false});
  EXPECT_EQ(unpaired.verdict, Verdict::kCannotTell);
  EXPECT_STREQ(method_name(unpaired.method), "Welch t, logs");
  EXPECT_EQ(unpaired.pairs, 0);
}

TEST(Compare, RunsWhosePartnerFailedAreLeftOutOfPairs) {
  Series a = in_blocks({10, 10.1, 10.2, 10.1}), b = in_blocks({10.1, 10.2, 10.1, 10.2, 99});
  a.push_back({9, 9, 77});
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.pairs, 4);
  EXPECT_EQ(comparison.verdict, Verdict::kEqual);
}

TEST(Compare, FewerThanThreeRunsASideHaveNoVerdictHoweverFarApartTheyAre) {
  const Comparison two = compare_values({10, 10.001}, {20, 20.001});
  EXPECT_EQ(two.verdict, Verdict::kCannotTell);
  EXPECT_NEAR(two.difference, 1, 0.001);
  EXPECT_EQ(two.needs_runs, 1);
  const Comparison one = compare_values({10}, {20});
  EXPECT_EQ(one.verdict, Verdict::kCannotTell);
  EXPECT_NEAR(one.difference, 1, 1e-12);
  EXPECT_TRUE(std::isnan(one.low));
  EXPECT_FALSE(one.needs_runs);
  const Comparison none = compare_values({}, {20, 21, 22});
  EXPECT_EQ(none.verdict, Verdict::kCannotTell);
  EXPECT_TRUE(std::isnan(none.difference));
}

TEST(Compare, EqualWithinTheMarginIsAVerdictOfItsOwn) {
  const std::vector<double> a{10, 10.1, 9.9, 10.05, 9.95}, b{10.02, 10.05, 9.92, 10.07, 9.98};
  EXPECT_EQ(compare_values(a, b, {.margin = 0.03}).verdict, Verdict::kEqual);
  const Comparison narrow = compare_values(a, b, {.margin = 0.002});
  EXPECT_EQ(narrow.verdict, Verdict::kCannotTell);
  EXPECT_GT(narrow.needs_runs, 1);
}

// The mean of equal values is rounded, by their number: 0.1 seven times over is not the 0.1 of twenty times.
TEST(Compare, ValuesThatAreAllTheSameDoNotDifferHoweverManyThereAre) {
  for (const double value : {0.1, 3.3, 100'000.0, 12'345.678}) {
    for (const size_t n_a : {3, 7, 8, 20}) {
      for (const size_t n_b : {3, 5, 10, 12, 13, 20}) {
        const Comparison comparison =
            compare_values(std::vector<double>(n_a, value), std::vector<double>(n_b, value), {.by_block = false});
        EXPECT_EQ(comparison.verdict, Verdict::kEqual) << value << ", " << n_a << " and " << n_b << " runs";
        EXPECT_EQ(comparison.difference, 0);
      }
    }
  }
}

TEST(Compare, ValuesWithZerosAreComparedWithoutLogarithms) {
  const Comparison comparison = compare_values({0, 2, 4, 2}, {4, 6, 8, 6});
  EXPECT_STREQ(method_name(comparison.method), "paired t");
  EXPECT_EQ(comparison.a, 2);
  EXPECT_EQ(comparison.b, 6);
  EXPECT_EQ(comparison.difference, 2);
  EXPECT_EQ(comparison.verdict, Verdict::kDiffers);
}

TEST(Compare, ABaseOfZeroHasNoRelativeDifference) {
  const Comparison comparison = compare_values({0, 0, 0, 0}, {4, 5, 4, 5});
  EXPECT_TRUE(std::isnan(comparison.difference));
  EXPECT_TRUE(std::isnan(comparison.low));
  EXPECT_EQ(comparison.verdict, Verdict::kDiffers);
  EXPECT_FALSE(comparison.needs_runs);
  const Comparison zeros = compare_values({0, 0, 0}, {0, 0, 0});
  EXPECT_EQ(zeros.difference, 0);
  EXPECT_EQ(zeros.verdict, Verdict::kEqual);
}

TEST(Compare, ConstantValuesGiveAVerdict) {
  EXPECT_EQ(compare_values({7, 7, 7}, {7, 7, 7}).verdict, Verdict::kEqual);
  const Comparison twice = compare_values({7, 7, 7}, {14, 14, 14}, {.by_block = false});
  EXPECT_EQ(twice.verdict, Verdict::kDiffers);
  EXPECT_NEAR(twice.difference, 1, 1e-12);
}

TEST(Holm, WithdrawsVerdictsThatPassOnlyAlone) {
  std::vector<Comparison> question;
  for (int i = 0; i < 10; ++i) question.push_back(compare_values({10, 10.2, 9.9, 10.1}, {10.3, 10.4, 10.2, 10.6}));
  ASSERT_EQ(question[0].verdict, Verdict::kDiffers);
  ASSERT_GT(question[0].p, 0.005);
  const Comparison alone = question[0];
  correct_for_number(question);
  EXPECT_EQ(question[0].verdict, Verdict::kCannotTell);
  EXPECT_NEAR(question[0].adjusted_p, 10 * alone.p, 1e-12);
  EXPECT_EQ(question[0].low, alone.low);
  EXPECT_TRUE(question[0].needs_runs);
  std::vector<Comparison> single{alone};
  correct_for_number(single);
  EXPECT_EQ(single[0].verdict, Verdict::kDiffers);
  EXPECT_EQ(single[0].adjusted_p, alone.p);
}

}  // namespace
}  // namespace mlrun::sweep
