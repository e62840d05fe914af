// SPDX-License-Identifier: Apache-2.0
#include "runner/util/clock.h"

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Clock, UtcTextHasWholeSecondsRoundedDown) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1'764'099'795'999'999'999), "2025-11-25T19:43:15Z");
}

TEST(Clock, ChosenClockMovesForward) {
  const ClockChoice choice = choose_clock();
  EXPECT_EQ(choice.reason.empty(), choice.kind == MLRUN_CLOCK_TSC);
  const uint64_t before = stamp(choice.kind);
  EXPECT_GE(stamp(choice.kind), before);
}

}  // namespace
}  // namespace mlrun::util
