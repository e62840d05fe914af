// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "tests/runner/sweep/statistics/simulation.h"

namespace mlrun::sweep {
namespace {

Series series_of(const std::vector<double>& values) {
  Series series;
  for (const double value : values) {
    const auto position = static_cast<int32_t>(series.size());
    series.push_back({position, position, value});
  }
  return series;
}

TEST(Describe, OneRunHasNoIntervalAndNoneHasNothing) {
  EXPECT_EQ(describe({}).n, 0);
  const Description one = describe(series_of({7}));
  EXPECT_EQ(one.n, 1);
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.mean, 7);
  EXPECT_EQ(one.sd, 0);
  EXPECT_FALSE(one.interval);
  EXPECT_EQ(one.method, Method::kNone);
}

TEST(Describe, IntervalsNameTheirMethod) {
  const Description positive = describe(series_of({1, 2, 4}));
  EXPECT_STREQ(method_name(positive.method), "t, logs");
  EXPECT_NEAR(std::sqrt(positive.interval->low * positive.interval->high), 2, 1e-12);  // around the geometric mean
  const Description with_zero = describe(series_of({0, 2, 4}));
  EXPECT_STREQ(method_name(with_zero.method), "t");
  EXPECT_NEAR((with_zero.interval->low + with_zero.interval->high) / 2, 2, 1e-12);
}

TEST(Describe, ValuesThatAreNotFiniteAreLeftOut) {
  const Description description = describe(series_of({1, NAN, 3, INFINITY}));
  EXPECT_EQ(description.n, 2);
  EXPECT_EQ(description.mean, 2);
}

TEST(Describe, AnOutlierStaysIn) {
  const Description description = describe(series_of({10, 10, 10, 10, 1000}));
  EXPECT_EQ(description.n, 5);
  EXPECT_EQ(description.max, 1000);
  EXPECT_EQ(description.mean, 208);
}

TEST(Describe, MediansHaveABootstrapFromTenRunsOnThatIsTheSameEveryTime) {
  EXPECT_FALSE(describe(series_of({1, 2, 3, 4, 5, 6, 7, 8, 9})).median_interval);
  const Series ten = series_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Interval first = *describe(ten).median_interval;
  const Interval second = *describe(ten).median_interval;
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_GT(first.low, 1);
  EXPECT_LT(first.low, 5.5);
  EXPECT_GT(first.high, 5.5);
  EXPECT_LT(first.high, 10);
  const Interval same = *describe(series_of(std::vector<double>(12, 3))).median_interval;
  EXPECT_EQ(same.low, 3);
  EXPECT_EQ(same.high, 3);
}

TEST(Describe, IntervalsOfMediansContainTheTruth) {
  Simulation simulation(1);
  int of_ten = 0, of_forty = 0;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> values = simulation.logarithms(Noise::kNormal, 10);
    const Interval ten = *describe(series_of(values)).median_interval;
    of_ten += ten.low <= std::log(10) && ten.high >= std::log(10) ? 1 : 0;
    values = simulation.logarithms(Noise::kNormal, 40);
    const Interval forty = *describe(series_of(values)).median_interval;
    of_forty += forty.low <= std::log(10) && forty.high >= std::log(10) ? 1 : 0;
  }
  EXPECT_GE(100.0 * of_ten / kTries, 92);
  EXPECT_GE(100.0 * of_forty / kTries, 93);
}

TEST(Drift, IsTheSlopeOverRunOrderAsAFractionOfTheMean) {
  Series series;
  for (int i = 0; i < 20; ++i) series.push_back({i, 3 * i, 10 * std::pow(1.01, 3 * i)});
  const Drift drift = *describe(series).drift;
  EXPECT_NEAR(drift.slope, 0.01, 1e-9);
  EXPECT_TRUE(drift.is_clear);
  EXPECT_FALSE(describe(series_of({1, 2, 3, 4})).drift);
}

TEST(Drift, IsSeenInTheRunsOfAllCellsWhereEachHasTooFew) {
  std::vector<Series> cells(6);
  Simulation simulation(1);
  for (int run = 0; run < 18; ++run) {
    const double noise = simulation.logarithms(Noise::kNormal, 1).front();
    cells[run % 6].push_back({run / 6, run, (1 + run % 6) * std::exp(noise + 0.01 * run)});
  }
  EXPECT_FALSE(describe(cells[0]).drift);
  const Drift drift = *common_drift(cells);
  EXPECT_TRUE(drift.is_clear);
  EXPECT_LT(drift.interval.low, std::expm1(0.01));
  EXPECT_GT(drift.interval.high, std::expm1(0.01));
}

TEST(Bimodality, IsFlaggedRarelyWhereThereIsOnePeak) {
  for (const Noise noise : {Noise::kNormal, Noise::kSkewed, Noise::kOutliers, Noise::kDrifting}) {
    for (const int n : {8, 10, 20, 40}) {
      Simulation simulation(1);
      int flagged = 0, drifting = 0;
      for (int i = 0; i < 1000; ++i) {
        const Description description = describe(series_of(simulation.logarithms(noise, n)));
        flagged += description.is_bimodal ? 1 : 0;
        drifting += description.drift->is_clear ? 1 : 0;
      }
      EXPECT_LE(flagged, 20) << noise_name(noise) << " " << n;  // 2 %
      if (noise == Noise::kDrifting) continue;
      EXPECT_LE(drifting, 20) << noise_name(noise) << " " << n;
    }
  }
}

TEST(Bimodality, TwoGroupsOfRunsAreFlagged) {
  Simulation simulation(1);
  int flagged = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values = simulation.logarithms(Noise::kNormal, 20);
    for (size_t run = 0; run < values.size(); run += 2) values[run] += 0.2;
    flagged += describe(series_of(values)).is_bimodal ? 1 : 0;
  }
  EXPECT_GE(flagged, 990);
}

TEST(StopRule, NeverStopsBeforeEightRuns) {
  EXPECT_FALSE(is_within(series_of(std::vector<double>(7, 10)), 0.01));
  EXPECT_TRUE(is_within(series_of(std::vector<double>(8, 10)), 0.01));
  const Series noisy = series_of({10, 11, 10, 11, 10, 11, 10, 11});
  EXPECT_NEAR(*half_width(noisy), 0.042, 0.001);
  EXPECT_TRUE(is_within(noisy, 0.05));
  EXPECT_FALSE(is_within(noisy, 0.04));
}

}  // namespace
}  // namespace mlrun::sweep
