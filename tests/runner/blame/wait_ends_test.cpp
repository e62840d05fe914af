// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/wait_ends.h"

#include <utility>
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

// The waker's thread ends, and its id is that of a thread of another process later.
TEST(WaitEndsTest, AWakerIsTheThreadThatHadItsIdAtTheWakeUp) {
  constexpr int32_t kLater = 5;
  Timeline timeline = made_timeline(1000 * kMs);
  const int32_t waker_tid = thread_of(timeline, kHelper).tid;
  timeline.threads_by_tid = {};
  timeline.threads_by_tid.add(waker_tid, {0, 400 * kMs, 1, kHelper});
  timeline.threads_by_tid.add(waker_tid, {500 * kMs, 1000 * kMs, 3, kLater});
  add_process(timeline, 3, 1, kLater, 500 * kMs, 1000 * kMs);
  for (const Ns start_ns : {100 * kMs, 600 * kMs}) {
    const Ns end_ns = start_ns + 100 * kMs;
    add_wait(timeline, kDriver, WaitKind::kLock, start_ns, end_ns);
    thread_of(timeline, kDriver).sleeps.push_back({start_ns, end_ns - kMs, end_ns, waker_tid, false, false});
  }
  WaitEnds ends(timeline);
  const std::vector<Wait>& waits = thread_of(timeline, kDriver).waits;
  for (const auto& [wait, who] : {std::pair{&waits[0], kHelper}, std::pair{&waits[1], kLater}}) {
    const Ender& ender = ends.find(kDriver, *wait, false);
    EXPECT_EQ(ender.link, Link::kWaker);
    EXPECT_EQ(ender.threads, std::vector<int32_t>{who});
  }
}

}  // namespace
}  // namespace mlrun::blame
