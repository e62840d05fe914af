// SPDX-License-Identifier: Apache-2.0
// Signal handlers that record, and handlers that jump out of the recorder.
#include <set>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

TEST(Handler, RecordsWhatItDoesBetweenTheInterruptedCallsWords) {
  const Totals t = run_traced({victim("handler"), "30000"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_EQ(static_cast<long>(t.of(KIND_pread)), t.number("certain"));
  EXPECT_EQ(t.torn, 0);
}

TEST(Handler, MayJumpOutThirtyThousandTimes) {
  const Totals t = run_traced({victim("handler"), "30000", "jump"});
  EXPECT_EQ(t.exit_code(), 0);
  EXPECT_GE(static_cast<long>(t.of(KIND_pread)), t.number("certain"));
  EXPECT_LE(static_cast<long>(t.of(KIND_pread)), t.number("at_most"));
  EXPECT_EQ(t.broken, 0);
}

class TestPoint : public testing::TestWithParam<int> {
 protected:
  // Each of the threads is struck once, and of their calls at most the one that was left is missing.
  static void strike(std::vector<std::string> command) {
    RunOptions options;
    options.library = points_library();
    std::vector<uint32_t> open_files;
    options.on_record = [&](const RecordView& r) {
      if (r.kind() == MLRUN_FILE) open_files.push_back(r.arg());
    };
    const Totals t = run_traced(command, options);
    EXPECT_EQ(t.exit_code(), 0);
    EXPECT_EQ(std::set<uint32_t>(open_files.begin(), open_files.end()).size(), open_files.size());
    EXPECT_EQ(t.number("strikes"), 20);
    EXPECT_GE(t.number("issued"), 20 * 1100);
    EXPECT_EQ(static_cast<long>(t.of(KIND_pread)), t.number("issued"));
    EXPECT_EQ(t.broken, 0);
  }
};

TEST_P(TestPoint, HandlerThatReturnsLosesNothing) { strike({victim("points"), "20", std::to_string(GetParam())}); }

TEST_P(TestPoint, HandlerThatJumpsOutLosesOnlyTheCallItLeft) {
  strike({victim("points"), "20", std::to_string(GetParam()), "jump"});
}

INSTANTIATE_TEST_SUITE_P(, TestPoint, testing::Range(1, 15));

}  // namespace
}  // namespace mlrun::preload_test
