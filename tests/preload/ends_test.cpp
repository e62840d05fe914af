// SPDX-License-Identifier: Apache-2.0
// Tests that the arena has a process's records however it ends.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

constexpr uint64_t kCalls = 200000;

class EveryEnd : public testing::TestWithParam<const char*> {};

TEST_P(EveryEnd, KeepsAllCalls) {
  const Totals t = run_traced({victim("calls"), std::to_string(kCalls), GetParam()});
  EXPECT_EQ(t.of(KIND_pread), kCalls);
  EXPECT_EQ(t.of(MLRUN_MALLOC), kCalls / 10);
  EXPECT_EQ(t.of(MLRUN_FREE), kCalls / 10);
  EXPECT_EQ(t.torn, 0);
  EXPECT_EQ(t.broken, 0);
  EXPECT_EQ(t.all_drops(), 0);
  EXPECT_EQ(t.of(MLRUN_PROCESS), 1);
  EXPECT_EQ(t.live_at_end, 0);
}

INSTANTIATE_TEST_SUITE_P(, EveryEnd, testing::Values("exit", "_exit", "quick_exit", "abort", "kill"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Exec, KeepsTheCallsOfBothImages) {
  const Totals t = run_traced({victim("calls"), "200000", "exec"});
  EXPECT_EQ(t.of(KIND_pread), 400000);
  EXPECT_EQ(t.of(MLRUN_MALLOC), 40000);
  EXPECT_EQ(t.of(MLRUN_PROCESS), 2);
  EXPECT_EQ(t.of(KIND_execve), 1);
}

TEST(Exec, FreesTheSegmentsOfTheFirstImageThoughThePidStays) {
  const Totals t = run_traced({"env", victim("calls"), "100000", "exec"}, {.arena = {.segments = 5}});
  EXPECT_EQ(t.of(KIND_pread), 200000);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(Kill, LosesNothingWithASlowCollectorThatIsWaitedFor) {
  const RunOptions options{.arena = {.segments = 17}, .per_segment = std::chrono::milliseconds(20)};
  const Totals t = run_traced({victim("calls"), "100000", "kill"}, options);
  EXPECT_EQ(t.of(KIND_pread), 100000);
  EXPECT_EQ(t.of(MLRUN_MALLOC), 10000);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(Kill, CountsWhatASlowCollectorMakesItDrop) {
  const RunOptions options{.arena = {.segments = 17, .lossless = false}, .per_segment = std::chrono::milliseconds(20)};
  const Totals t = run_traced({victim("calls"), "100000", "kill"}, options);
  EXPECT_GT(t.all_drops(), 0);
  EXPECT_EQ(t.of(KIND_pread) + t.of(KIND_open) + t.drops[MLRUN_DROPPED_FILE_CALL], 100000 + 1);
  EXPECT_EQ(t.of(MLRUN_MALLOC) + t.drops[MLRUN_DROPPED_ALLOCATION], 10000);
  EXPECT_EQ(t.of(MLRUN_FREE) + t.drops[MLRUN_DROPPED_FREE], 10000);
}

// Four threads at once, at sixty moments: of each thread at most the call that was being made is missing.
TEST(Kill, LosesAtMostTheLastCallOfEachThread) {
  for (int moment = 0; moment < 60; moment++) {
    OrderCheck order;
    RunOptions options;
    options.on_record = [&](const RecordView& record) { order.look_at(record); };
    const Totals t = run_traced({victim("killed"), std::to_string(moment * 7 + 3)}, options);
    const auto finished = static_cast<uint64_t>(t.number("finished"));
    ASSERT_GE(t.of(KIND_pread), finished) << "moment " << moment;
    ASSERT_LE(t.of(KIND_pread), finished + 4) << "moment " << moment;
    ASSERT_EQ(order.wrong(), 0) << "moment " << moment;
  }
}

TEST(Kill, OfPidOneOfAPidNamespaceLosesNothing) {
  if (std::system("unshare -pf true 2>&1") != 0) GTEST_SKIP() << "no pid namespace may be made here";
  const Totals t = run_traced({"unshare", "-pf", victim("calls"), "100000", "kill"});
  EXPECT_EQ(t.of(KIND_pread), 100000);
  EXPECT_EQ(t.live_at_end, 0);
}

TEST(End, RecordsTheBytesThatTheKernelCounted) {
  uint64_t characters_read = 0;
  RunOptions options;
  options.on_record = [&](const RecordView& record) {
    if (record.kind() == MLRUN_END) characters_read = record.words[3];
  };
  const Totals t = run_traced({victim("calls"), "70000", "_exit"}, options);
  EXPECT_EQ(t.of(MLRUN_END), 1);
  EXPECT_GE(characters_read, 70000);
  EXPECT_LT(characters_read, 80000);
}

}  // namespace
}  // namespace mlrun::preload_test
