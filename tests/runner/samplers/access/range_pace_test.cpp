// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/range_pace.h"

#include <gtest/gtest.h>

namespace mlrun::access {
namespace {

constexpr uint64_t kMapping = uint64_t{1} << 30;

uint64_t range_of(const RangePace& pace) { return pace.end_of_range(0, kMapping); }

// A kernel that takes so long for a byte. Clears a mapping from its begin to its end.
struct Cleared {
  uint64_t calls_ns = 0, pauses_ns = 0, longest_ns = 0;
  int calls = 0, long_calls = 0;
};
Cleared clear(RangePace& pace, double ns_of_byte, uint64_t bytes = kMapping) {
  Cleared cleared;
  for (uint64_t at = 0x7f0000001000, end = at + bytes; at < end;) {
    const uint64_t until = pace.end_of_range(at, end);
    EXPECT_GT(until, at);
    EXPECT_LE(until, end);
    EXPECT_TRUE(until == end || until % RangePace::kLeast == 0);  // no huge page is split
    const auto took_ns = static_cast<uint64_t>(ns_of_byte * static_cast<double>(until - at));
    at = until;
    cleared.pauses_ns += pace.took(took_ns);
    cleared.calls_ns += took_ns;
    cleared.longest_ns = std::max(cleared.longest_ns, took_ns);
    cleared.calls++;
    cleared.long_calls += took_ns > RangePace::kLongNs ? 1 : 0;
  }
  return cleared;
}

TEST(RangePace, CallsThatTakeTooLongHalveTheRangeUntilTheyDoNot) {
  RangePace pace;
  EXPECT_EQ(range_of(pace), RangePace::kMost);
  const Cleared cleared = clear(pace, 0.8);  // 13 ms for the largest range
  EXPECT_EQ(cleared.long_calls, 3);          // 16, 8, 4 MiB
  EXPECT_EQ(range_of(pace), RangePace::kLeast);
  EXPECT_EQ(clear(pace, 0.8).long_calls, 0);
}

TEST(RangePace, ACalibratedPaceAvoidsTheFirstLongCalls) {
  RangePace pace(0.8 * 4096 * 1000);
  EXPECT_EQ(clear(pace, 0.8).long_calls, 0);
  EXPECT_EQ(range_of(RangePace(1'000'000)), RangePace::kLeast);
  EXPECT_EQ(range_of(RangePace(300'000)), RangePace::kMost / 2);
  EXPECT_EQ(range_of(RangePace(10'000)), RangePace::kMost);
}

TEST(RangePace, AfterSeveralShortCallsTheRangeGrowsAgain) {
  RangePace pace;
  clear(pace, 0.8);
  clear(pace, 0.01);
  EXPECT_EQ(range_of(pace), RangePace::kMost);
  clear(pace, 0.1);  // neither long nor short
  EXPECT_EQ(range_of(pace), RangePace::kMost);
}

TEST(RangePace, CallsHaveFivePercentOfTheTimeHoweverLongTheyTake) {
  for (const double ns_of_byte : {0.01, 0.1, 0.8, 5.0}) {
    RangePace pace;
    const Cleared cleared = clear(pace, ns_of_byte);
    EXPECT_LE(static_cast<double>(cleared.calls_ns),
              0.0501 * static_cast<double>(cleared.calls_ns + cleared.pauses_ns));
  }
}

TEST(RangePace, SmallMappingsAreClearedByOneCallEach) {
  RangePace pace;
  EXPECT_EQ(clear(pace, 0.01, 4096).calls, 1);
  EXPECT_EQ(clear(pace, 0.01, 1 << 20).calls, 1);
}

}  // namespace
}  // namespace mlrun::access
