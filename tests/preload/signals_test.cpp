// SPDX-License-Identifier: Apache-2.0
// Signal handlers that record, and handlers that jump out of the recorder.
#include <gtest/gtest.h>

#include "preload/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

TEST(Handler, RecordsWhatItDoesBetweenTheInterruptedCallsWords) {
  const Totals t = run_traced({victim("handler"), "100000"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(static_cast<long>(t.of(KIND_pread)), t.number("certain"));
  EXPECT_EQ(t.torn, 0);
}

TEST(Handler, MayJumpOutAHundredThousandTimes) {
  const Totals t = run_traced({victim("handler"), "100000", "jump"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_GE(static_cast<long>(t.of(KIND_pread)), t.number("certain"));
  EXPECT_LE(static_cast<long>(t.of(KIND_pread)), t.number("at_most"));
  EXPECT_EQ(t.broken, 0);
}

class TestPoint : public testing::TestWithParam<int> {};

Totals strike_at(int point, std::vector<std::string> more) {
  const std::string place = std::to_string(point);
  std::vector<std::string> command = {victim("points"), "5", place, place};
  command.insert(command.end(), more.begin(), more.end());
  RunOptions options;
  options.library = points_library();
  return run_traced(command, options);
}

TEST_P(TestPoint, HandlerThatReturnsLosesNothing) {
  const Totals t = strike_at(GetParam(), {});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_GT(t.number("issued"), 0);
  EXPECT_EQ(static_cast<long>(t.of(KIND_pread)), t.number("issued"));
  EXPECT_EQ(t.broken, 0);
}

TEST_P(TestPoint, HandlerThatJumpsOutLosesOnlyTheCallItLeft) {
  const Totals t = strike_at(GetParam(), {"jump"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_GT(t.number("issued"), 0);
  EXPECT_EQ(static_cast<long>(t.of(KIND_pread)), t.number("issued"));
  EXPECT_EQ(t.broken, 0);
}

INSTANTIATE_TEST_SUITE_P(, TestPoint, testing::Range(1, 14));

}  // namespace
}  // namespace mlrun::preload_test
