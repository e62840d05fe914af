// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/run_queue.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runner/util/clock.h"

namespace mlrun::access {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(RunQueue, RunnableTimeIsNotWaiting) {
  const RunQueue none;
  EXPECT_DOUBLE_EQ(could_run(none, {25 * kMs, 75 * kMs}, 100 * kMs), 0.25);
  EXPECT_DOUBLE_EQ(could_run(none, {5 * kMs, 5 * kMs}, 100 * kMs), 0.95);     // asleep for the rest
  EXPECT_DOUBLE_EQ(could_run(none, {200 * kMs, 200 * kMs}, 100 * kMs), 0.5);  // four busy threads on two processors
  EXPECT_DOUBLE_EQ(could_run(none, none, 100 * kMs), 1);
  EXPECT_DOUBLE_EQ(could_run({9 * kMs, 9 * kMs}, {10 * kMs, 3 * kMs}, 100 * kMs), 1);  // a thread has ended
}

TEST(RunQueue, TheRestIsLongerForAProcessThatWaits) {
  EXPECT_EQ(rest_missing_ns(100 * kMs, 100 * kMs, 1), 0U);
  EXPECT_EQ(rest_missing_ns(100 * kMs, 30 * kMs, 1), 70 * kMs);
  EXPECT_EQ(rest_missing_ns(100 * kMs, 100 * kMs, 0.5), 100 * kMs);
  EXPECT_EQ(rest_missing_ns(100 * kMs, 300 * kMs, 0.01), 100 * kMs);  // up to four times the rest
  EXPECT_EQ(rest_missing_ns(100 * kMs, 400 * kMs, 0.01), 0U);
}

// Three processes have one processor: each waits for at least half of the time.
TEST(RunQueue, ProcessesOnOneProcessorWaitForEachOther) {
  pid_t children[3];
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    alarm(10);  // ends it if this test is killed
    sched_setaffinity(0, sizeof one, &one);
    for (;;) {
    }
  }
  usleep(100'000);
  const RunQueue before = run_queue_of(children[0]);
  const uint64_t began_ns = util::monotonic_ns();
  usleep(600'000);
  const double share = could_run(before, run_queue_of(children[0]), util::monotonic_ns() - began_ns);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  EXPECT_GT(share, 0.0);
  EXPECT_LT(share, 0.6);
  EXPECT_EQ(run_queue_of(children[0]).ran_ns, 0U);
}

}  // namespace
}  // namespace mlrun::access
