// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_list.h"

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

// Batches that come every 100 ms; the loop takes 20 ms for each.
TEST(StepList, ABatchBeginsAStep) {
  Timeline timeline = made_timeline(1200 * kMs);
  thread_of(timeline, kWorkerMain).reads.push_back({kMs / 2, kMs, kTasks, 50});
  timeline.messages[kTasks].push_back({0, kMs / 2, kHelper, 50});
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) add_batch(timeline, at_ns + 20 * kMs, at_ns + 100 * kMs);
  timeline.messages[kPipe].push_back({1100 * kMs, 1100 * kMs + 1000, kFeeder, 90});  // the worker's word that it ends
  thread_of(timeline, kDriver).reads.push_back({1100 * kMs + 2000, 1100 * kMs + 3000, kPipe, 90});
  Lines lines;
  Divider divider(timeline, lines);
  const Division division = divider.divide(0);
  const auto epochs = list_batches(timeline, division, divider.chain());
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].batches.size(), 10U);
  const auto steps = steps_of_batches(division, epochs);
  ASSERT_EQ(steps.size(), 10U);
  for (size_t i = 0; i < steps.size(); ++i)
    EXPECT_NEAR(static_cast<double>(steps[i].start_ns), static_cast<double>((i + 1) * 100 * kMs), 1e5) << i;
}

// Pool.map of four tasks for each step, whose results a thread of the driver's process reads.
TEST(StepList, ResultsThatComeInOneWaitAreOneBatch) {
  Timeline timeline = made_timeline(1200 * kMs);
  timeline.processes[2].role = "worker";
  thread_of(timeline, kWorkerMain).reads.push_back({kMs / 2, kMs, kTasks, 50});
  timeline.messages[kTasks].push_back({0, kMs / 2, kHelper, 50});
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    add_wait(timeline, kDriver, WaitKind::kLock, at_ns + kMs, at_ns + 81 * kMs).poster = kHelper;
    for (Ns k = 1; k <= 4; ++k) {
      const Ns sent_ns = at_ns + 20 * k * kMs;
      timeline.messages[kPipe].push_back({sent_ns - 1000, sent_ns, kWorkerMain, 400});
      thread_of(timeline, kHelper).reads.push_back({sent_ns, sent_ns + 1000, kPipe, 400});
    }
  }
  Lines lines;
  Divider divider(timeline, lines);
  const Division division = divider.divide(0);
  const auto epochs = list_batches(timeline, division, divider.chain());
  ASSERT_EQ(epochs.size(), 1U);
  EXPECT_EQ(epochs[0].batches.size(), 10U);
}

TEST(StepList, AMessageOfAPoolMayHaveSeveralResults) {
  Timeline timeline = made_timeline(1000 * kMs);
  const std::string pool = "/usr/lib/python3.11/multiprocessing/pool.py";
  timeline.stacks[1] = {{"IMapIterator.next", pool, 861}, {"main", "/home/me/train.py", 9}};
  timeline.stacks[2] = {{"IMapIterator.next", pool, 861},
                        {"Pool.imap_unordered.<locals>.<genexpr>", pool, 426},
                        {"main", "/home/me/train.py", 9}};
  thread_of(timeline, kDriver).samples.push_back({kMs, kMs, 1, 1, 0, false});
  EXPECT_FALSE(takes_chunks(timeline, kDriver));
  thread_of(timeline, kDriver).samples.push_back({2 * kMs, 2 * kMs, 1, 2, 0, false});
  EXPECT_TRUE(takes_chunks(timeline, kDriver));
}

// Ten batches taken at once, each computed for 100 ms; after the last one the driver waits 0.2 ms, then computes 50 ms, then waits long.
TEST(StepList, AShortWaitDoesNotEndTheLastStep) {
  Division division;
  Epoch epoch;
  epoch.in_order = true;
  const auto piece = [&](Ns from_ns, Ns to_ns, summary::Activity activity) {
    Divided one;
    one.start_ns = from_ns;
    one.end_ns = to_ns;
    one.activity = activity;
    division.pieces.push_back(one);
  };
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    Batch batch;
    batch.taken_ns = at_ns;
    epoch.batches.push_back(batch);
  }
  piece(0, 900 * kMs, summary::Activity::kCompute);
  piece(900 * kMs, 900 * kMs + kMs / 5, summary::Activity::kWait);
  piece(900 * kMs + kMs / 5, 950 * kMs, summary::Activity::kCompute);
  piece(950 * kMs, 970 * kMs, summary::Activity::kWait);
  piece(970 * kMs, 2000 * kMs, summary::Activity::kCompute);
  const auto steps = steps_of_batches(division, {epoch});
  ASSERT_EQ(steps.size(), 10U);
  EXPECT_EQ(steps.back().start_ns, 900 * kMs);
  EXPECT_EQ(steps.back().end_ns, 950 * kMs);
}

}  // namespace
}  // namespace mlrun::blame
