// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/trace_clock.h"

#include <random>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

// 2.5 ticks per nanosecond from tick 1000 at 5,000,000 ns on.
mlrun_frame_anchor anchor(uint64_t ns, int64_t error_ns = 0, int64_t realtime_step = 0) {
  const uint64_t monotonic = 5'000'000 + ns + static_cast<uint64_t>(error_ns);
  return {1000 + ns * 5 / 2, 100, monotonic,
          1'700'000'000'000'000'000 + monotonic + static_cast<uint64_t>(realtime_step), 0};
}

TraceClock clock_of(std::vector<mlrun_frame_anchor> anchors) {
  auto clock = TraceClock::make(std::move(anchors), true);
  EXPECT_TRUE(clock) << clock.error().text;
  return *std::move(clock);
}

TEST(TraceClock, GoesStraightFromAnchorToAnchor) {
  const TraceClock clock = clock_of({anchor(0), anchor(100'000'000), anchor(200'000'000, 1000)});
  TraceClock::Hint hint;
  EXPECT_EQ(clock.from_ticks(1000, hint), 5'000'000);
  EXPECT_EQ(clock.from_ticks(1000 + 250'000'000, hint), 105'000'000);
  EXPECT_NEAR(static_cast<double>(clock.from_ticks(1000 + 375'000'000, hint)), 155'000'500, 1);
}

TEST(TraceClock, ExtrapolatesBeyondTheFirstAndTheLastAnchor) {
  const TraceClock clock = clock_of({anchor(1'000'000), anchor(2'000'000)});
  TraceClock::Hint hint;
  EXPECT_EQ(clock.from_ticks(1000, hint), 5'000'000);
  EXPECT_NEAR(static_cast<double>(clock.from_ticks(1000 + 7'500'000, hint)), 8'000'000, 1);
  EXPECT_GE(clock.from_ticks(0, hint), 0);
  EXPECT_LE(clock.from_ticks(UINT64_MAX, hint), kLatestNs);
}

TEST(TraceClock, NeverTurnsBack) {
  std::mt19937_64 random(7);
  std::vector<mlrun_frame_anchor> anchors;
  for (uint64_t ns = 0; ns < 3'000'000'000; ns += 100'000'000) anchors.push_back(anchor(ns, int64_t(random() % 200)));
  const TraceClock clock = clock_of(anchors);
  std::vector<uint64_t> stamps;
  for (int i = 0; i < 100'000; ++i) stamps.push_back(random() % 8'000'000'000);
  for (const auto& at : anchors) stamps.insert(stamps.end(), {at.tsc - 1, at.tsc, at.tsc + 1});
  std::sort(stamps.begin(), stamps.end());
  TraceClock::Hint hint;
  int64_t before = 0;
  for (const uint64_t stamp : stamps) {
    const int64_t now = clock.from_ticks(stamp, hint);
    ASSERT_GE(now, before) << stamp;
    before = now;
  }
}

TEST(TraceClock, GivesTheSameTimeIndependentOfEarlierQueries) {
  const TraceClock clock =
      clock_of({anchor(0), anchor(100'000'000, 300), anchor(200'000'000), anchor(300'000'000, 90)});
  TraceClock::Hint wandering;
  for (const uint64_t ticks : {700'000'000u, 5u, 260'000'000u, 500'000'000u, 1000u}) {
    TraceClock::Hint fresh;
    EXPECT_EQ(clock.from_ticks(ticks, wandering), clock.from_ticks(ticks, fresh));
  }
}

TEST(TraceClock, ReportsTheErrorOfTheWorstHeldOutAnchor) {
  const TraceClock clock = clock_of({anchor(0), anchor(100'000'000, 800), anchor(200'000'000), anchor(300'000'000)});
  EXPECT_NEAR(static_cast<double>(clock.error().max_ns), 800, 1);
  ASSERT_EQ(clock.error().stretches.size(), 2u);
  EXPECT_NEAR(static_cast<double>(clock.error().stretches[1].error_ns), 400, 1);
}

TEST(TraceClock, LeavesOutAnchorsThatWereInterruptedOrContradictTheOthers) {
  auto interrupted = anchor(150'000'000, 900'000);
  interrupted.width_ticks = 5'000'000;
  auto backwards = anchor(250'000'000, -200'000'000);
  const TraceClock clock =
      clock_of({anchor(0), anchor(100'000'000), interrupted, anchor(200'000'000), backwards, anchor(300'000'000)});
  EXPECT_EQ(clock.error().anchors, 4u);
  EXPECT_EQ(clock.error().left_out, 2u);
  EXPECT_LE(clock.error().max_ns, 1);
}

TEST(TraceClock, AsksForTwoAnchorsOnlyWhereTicksWereStamped) {
  EXPECT_FALSE(TraceClock::make({anchor(0)}, true));
  EXPECT_FALSE(TraceClock::make({}, true));
  const auto clock = TraceClock::make({}, false);
  ASSERT_TRUE(clock);
  TraceClock::Hint hint;
  EXPECT_EQ(clock->convert(123, MLRUN_CLOCK_MONOTONIC, hint), 123);
  EXPECT_EQ(clock->convert(UINT64_MAX, MLRUN_CLOCK_MONOTONIC, hint), kLatestNs);
}

TEST(TraceClock, ConvertsWallTimeByTheOffsetOfThatTime) {
  // The wall clock is set forward by a second between the second and the third anchor.
  constexpr int64_t kSecond = 1'000'000'000;
  const TraceClock clock =
      clock_of({anchor(0), anchor(100'000'000), anchor(200'000'000, 0, kSecond), anchor(300'000'000, 0, kSecond)});
  const int64_t base = 1'700'000'000'000'000'000 + 5'000'000;
  const WallTime before = clock.from_realtime(base + 50'000'000);
  EXPECT_EQ(before.ts_ns, 55'000'000);
  EXPECT_LE(before.error_ns, 1);
  const WallTime after = clock.from_realtime(base + 250'000'000 + kSecond);
  EXPECT_EQ(after.ts_ns, 255'000'000);
  EXPECT_LE(after.error_ns, 1);
  const WallTime within = clock.from_realtime(base + 600'000'000);
  EXPECT_GE(within.error_ns, kSecond);
}

}  // namespace
}  // namespace mlrun::trace
