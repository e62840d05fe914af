// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/wait_ends.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

void sleeps_unseen(Timeline& timeline, int32_t thread_id) {
  Usage usage;
  usage.end_ns = 1000 * kMs;
  usage.asleep = 1;
  thread_of(timeline, thread_id).usage.push_back(usage);
}

// A pool's idle thread sleeps in no recorded wait.
TEST(WaitEndsTest, AThreadThatSleptDoesNotHoldPythonsLockWhileAnotherWasAwake) {
  constexpr int32_t kIdle = 5;
  constexpr Ns kMoment = 500 * kMs;
  Timeline timeline = made_timeline(1000 * kMs);
  Thread thread;
  thread.thread_id = kIdle;
  thread.proc_id = 2;
  thread.last_ns = timeline.end_ns;
  timeline.threads.push_back(thread);
  timeline.processes[2].threads.push_back(kIdle);
  sleeps_unseen(timeline, kIdle);
  EXPECT_EQ(WaitEnds(timeline).holders(2, kFeeder, kMoment), std::vector<int32_t>{kWorkerMain});
  sleeps_unseen(timeline, kWorkerMain);
  EXPECT_EQ(WaitEnds(timeline).holders(2, kFeeder, kMoment), (std::vector<int32_t>{kWorkerMain, kIdle}));
}

}  // namespace
}  // namespace mlrun::blame
