// SPDX-License-Identifier: Apache-2.0
// Tests a pool without free segments: dropping and counting, or waiting, and the end of waiting.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "preload/core/call_kind.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST(Dropping, CountsEachEventThatFourSegmentsDoNotHold) {
  const RunOptions options{.arena = {.segments = 5, .lossless = false}, .per_segment = milliseconds(1)};
  const Totals t = run_traced({victim("calls"), "1000000", "kill"}, options);
  EXPECT_GT(t.all_drops(), 0);
  EXPECT_EQ(t.of(KIND_pread) + t.of(KIND_open) + t.drops[MLRUN_DROPPED_FILE_CALL], 1000000 + 1);
  EXPECT_EQ(t.of(MLRUN_MALLOC) + t.drops[MLRUN_DROPPED_ALLOCATION], 100000);
  EXPECT_EQ(t.of(MLRUN_FREE) + t.drops[MLRUN_DROPPED_FREE], 100000);
  EXPECT_EQ(t.drops[MLRUN_DROPPED_WAIT] + t.drops[MLRUN_DROPPED_PROCESS_CALL] + t.drops[MLRUN_DROPPED_MARK], 0);
}

TEST(Dropping, CountsThreadsThatFindNoSegmentOrDescriptor) {
  const Totals t = run_traced({victim("threads"), "1000", "200"}, {.arena = {.segments = 17, .lossless = false}});
  const uint64_t file_calls = t.of(KIND_pread) + t.of(KIND_open);
  EXPECT_GT(t.failures[MLRUN_FAIL_NO_CHANNEL], 0);
  EXPECT_EQ(file_calls + t.drops[MLRUN_DROPPED_FILE_CALL], 1000 * 200 + 1);
  EXPECT_EQ(t.of(KIND_pthread_create) + t.drops[MLRUN_DROPPED_PROCESS_CALL], 1000);
}

TEST(Lossless, WaitsForTwoHundredThreadsInSixteenSegments) {
  const Totals t = run_traced({victim("threads"), "1000", "200"}, {.arena = {.segments = 17}});
  EXPECT_EQ(t.of(KIND_pread), 200000);
  EXPECT_EQ(t.all_drops(), 0);
}

TEST(Lossless, StaysInOrderThroughEightHundredLaps) {
  OrderCheck order;
  RunOptions options{.arena = {.segments = 5}};
  options.on_record = [&](const RecordView& r) { order.look_at(r); };
  const Totals t = run_traced({victim("calls"), "3000000", "exit"}, options);
  EXPECT_EQ(t.of(KIND_pread), 3000000);
  EXPECT_EQ(order.wrong(), 0);
  EXPECT_GT(t.zeroed, 0);  // the lap has wrapped
}

// Fewer segments than threads, each of which holds one and waits for the others: waiting must end.
TEST(Lossless, GivesUpRatherThanHangWhenThreadsHoldAllSegments) {
  const Totals t = run_traced({victim("barrier"), "30"}, {.arena = {.segments = 17}});
  EXPECT_EQ(t.number("passed"), 30);
}

// Runs the collector in a process of its own and does something to it after 150 ms. Returns how long the command, of 1.1
// million calls in two programs, took from then on.
double disturb_collector(int signal_number) {
  const std::filesystem::path folder = testing::TempDir() + "disturbed_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const std::string mark = folder / "done";
  const pid_t collector = fork();
  if (collector == 0) {
    const std::string command = victim("calls") + " 1000000 _exit; " + victim("calls") + " 100000 _exit; touch " + mark;
    run_traced({"bash", "-c", command}, {.arena = {.segments = 17, .folder = folder.c_str()}});
    _exit(0);
  }
  std::this_thread::sleep_for(milliseconds(150));
  const auto start = Clock::now();
  kill(collector, signal_number);
  while (access(mark.c_str(), F_OK) != 0 && Clock::now() - start < std::chrono::seconds(60))
    std::this_thread::sleep_for(milliseconds(10));
  const std::chrono::duration<double> took = Clock::now() - start;
  kill(collector, SIGCONT);
  waitpid(collector, nullptr, 0);
  std::filesystem::remove_all(folder);
  return took.count();
}

TEST(Lossless, ContinuesAtOnceWhenTheCollectorIsKilled) { EXPECT_LT(disturb_collector(SIGKILL), 5); }

TEST(Lossless, GivesUpWhenTheCollectorHangs) {
  const double seconds = disturb_collector(SIGSTOP);
  EXPECT_GT(seconds, 4.5);
  EXPECT_LT(seconds, 30);
}

}  // namespace
}  // namespace mlrun::preload_test
