// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/clock_fit.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace {

using mlrun::nodes::ClockLine;
using mlrun::nodes::OffsetBounds;

constexpr int64_t kSecond = 1'000'000'000;

// Two clocks with a known line between them, and messages with random delays in both directions.
struct Truth {
  int64_t offset_ns = 0;
  double drift = 0;
  int64_t start_ns = 5'000 * kSecond;  // of the other clock

  [[nodiscard]] int64_t offset(int64_t at_ns) const {
    return offset_ns + std::llround(drift * static_cast<double>(at_ns - start_ns));
  }
  OffsetBounds messages(int count, int64_t seconds, double delay_ns, std::mt19937& chance) const {
    std::exponential_distribution<double> delay(1 / delay_ns);
    std::uniform_int_distribution<int64_t> when(0, seconds * kSecond);
    OffsetBounds bounds;
    for (int i = 0; i < count; ++i) {
      const int64_t to = start_ns + when(chance), from = start_ns + when(chance);
      bounds.upper.push_back({to, offset(to) + 5'000 + std::llround(delay(chance))});
      bounds.lower.push_back({from, offset(from) - 5'000 - std::llround(delay(chance))});
    }
    return bounds;
  }
};

TEST(ClockFit, HoldsTheTrueOffsetWithinItsErrorWhateverTheDelays) {
  std::mt19937 chance(28);
  for (int run = 0; run < 300; ++run) {
    const double ppm = std::uniform_real_distribution<double>(-100, 100)(chance);
    const Truth truth{std::uniform_int_distribution<int64_t>(-kSecond * 4000, kSecond * 4000)(chance), ppm * 1e-6};
    const OffsetBounds bounds = truth.messages(1 + run % 200, 1 + run % 60, 1'000.0 * (1 + run % 97), chance);
    const auto line = ClockLine::fit(bounds);
    ASSERT_TRUE(line);
    EXPECT_EQ(line->widened_ns(), 0);
    for (int64_t second = -1; second <= 61; ++second) {
      const int64_t at = truth.start_ns + second * kSecond;
      EXPECT_LE(std::abs(line->offset_ns(at) - truth.offset(at)), line->error_ns(at)) << run << " at " << second;
    }
    for (const auto& bound : bounds.upper) EXPECT_LE(line->offset_ns(bound.at_ns), bound.offset_ns + 1);
    for (const auto& bound : bounds.lower) EXPECT_GE(line->offset_ns(bound.at_ns), bound.offset_ns - 1);
  }
}

TEST(ClockFit, IsAsExactAsTheShortestDelays) {
  std::mt19937 chance(1);
  const Truth truth{50'000'000, 20e-6};
  const auto line = ClockLine::fit(truth.messages(20'000, 60, 100'000, chance));
  ASSERT_TRUE(line);
  const int64_t middle = truth.start_ns + 30 * kSecond;
  EXPECT_LE(line->error_ns(middle), 7'000);  // 5 us are added to each delay
  EXPECT_NEAR(line->drift(), 20e-6, 1e-6);
}

TEST(ClockFit, NeedsBoundsOnBothSides) {
  OffsetBounds bounds;
  EXPECT_FALSE(ClockLine::fit(bounds));
  bounds.upper.push_back({1, 2});
  EXPECT_FALSE(ClockLine::fit(bounds));
  bounds.lower.push_back({1, -2});
  ASSERT_TRUE(ClockLine::fit(bounds));
  EXPECT_EQ(ClockLine::fit(bounds)->offset_ns(1), 0);
}

TEST(ClockFit, CountsAsErrorWhatASteeredClockBendsTheLine) {
  OffsetBounds bounds;  // a parabola of 1 ms, with delays of 1 us
  for (int64_t second = 0; second <= 100; ++second) {
    const int64_t bend = (second - 50) * (second - 50) * 400;
    bounds.upper.push_back({second * kSecond, bend + 1'000});
    bounds.lower.push_back({second * kSecond, bend - 1'000});
  }
  const auto line = ClockLine::fit(bounds);
  ASSERT_TRUE(line);
  EXPECT_NEAR(static_cast<double>(line->widened_ns()), 499'000, 2'000);  // half of the bend, less the delays
  for (int64_t second = 0; second <= 100; ++second) {
    const int64_t bend = (second - 50) * (second - 50) * 400;
    EXPECT_LE(std::abs(line->offset_ns(second * kSecond) - bend), line->error_ns(second * kSecond));
  }
}

TEST(ClockFit, ComposesLinesWithTheSumOfTheirErrors) {
  std::mt19937 chance(3);
  for (int run = 0; run < 100; ++run) {
    const Truth first{7 * kSecond, 30e-6}, second{-3 * kSecond, -45e-6};
    const auto one = ClockLine::fit(first.messages(1 + run, 20, 40'000, chance));
    const auto other = ClockLine::fit(second.messages(1 + run, 20, 40'000, chance));
    ASSERT_TRUE(one && other);
    const ClockLine both = one->after(*other);
    for (int64_t at = second.start_ns; at < second.start_ns + 20 * kSecond; at += kSecond / 2) {
      const int64_t in_middle = at - second.offset(at), truth = in_middle - first.offset(in_middle);
      EXPECT_LE(std::abs(both.ours(at) - truth), both.error_ns(at) + 1);
    }
    const ClockLine back = one->inverse();
    for (int64_t at = 0; at < 20; ++at) {
      const int64_t ours = 4'993 * kSecond + at * kSecond;
      EXPECT_LE(std::abs(one->ours(back.ours(ours)) - ours), 2);
    }
  }
}

}  // namespace
