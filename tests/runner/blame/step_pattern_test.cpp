// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_pattern.h"

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

class StepPatternTest : public testing::Test {
 protected:
  PatternSteps find() {
    Lines lines;
    Divider divider(timeline_, lines);
    const Division division = divider.divide(0);
    return steps_of_pattern(timeline_, division, divider.ends());
  }
  void read_file(int32_t thread, Ns start_ns, Ns end_ns) {
    CallBins& calls = thread_of(timeline_, thread).calls;
    calls.add(start_ns, end_ns, CallGroup::kRead, {}, kMs);
    calls.note_data(true, 1000);
  }
  void wait_for_helper(Ns start_ns, Ns end_ns) {
    add_wait(timeline_, kDriver, WaitKind::kLock, start_ns, end_ns).poster = kHelper;
  }
  Timeline timeline_ = [] {
    Timeline made = made_timeline(2000 * kMs);
    made.bin_ns = kMs;
    return made;
  }();
};

TEST_F(StepPatternTest, ADriverThatReadsFilesBeginsAStepWhenItHasReadABatch) {
  for (Ns at_ns = 100 * kMs; at_ns < 1300 * kMs; at_ns += 60 * kMs) {
    for (Ns k = 0; k < 4; ++k) read_file(kDriver, at_ns + k * kMs, at_ns + k * kMs + kMs / 2);
  }
  const PatternSteps found = find();
  ASSERT_EQ(found.steps.size(), 20U);
  EXPECT_NEAR(found.sure, 1, 1e-9);
  for (size_t i = 0; i < found.steps.size(); ++i)
    EXPECT_EQ(found.steps[i].start_ns, (103 + 60 * static_cast<Ns>(i)) * kMs + kMs / 2) << i;
}

TEST_F(StepPatternTest, ABatchThatWasInterruptedIsOneBatch) {
  for (Ns at_ns = 100 * kMs; at_ns < 1300 * kMs; at_ns += 60 * kMs) {
    const Ns pause_ns = at_ns == 340 * kMs ? 30 * kMs : 0;  // as long as computing
    for (Ns k = 0; k < 4; ++k) {
      const Ns from_ns = at_ns + k * kMs + (k > 1 ? pause_ns : 0);
      read_file(kDriver, from_ns, from_ns + kMs / 2);
    }
  }
  EXPECT_EQ(find().steps.size(), 20U);
}

TEST_F(StepPatternTest, ALoopThatStarvesBeginsAStepWithEachWait) {
  for (Ns k = 0; k < 20; ++k) wait_for_helper((100 + 50 * k) * kMs, (140 + 50 * k) * kMs);
  const PatternSteps found = find();
  ASSERT_EQ(found.steps.size(), 20U);
  for (size_t i = 0; i < found.steps.size(); ++i)
    EXPECT_EQ(found.steps[i].start_ns, (140 + 50 * static_cast<Ns>(i)) * kMs) << i;
}

// The driver takes a batch of a full queue without a wait; the helper's wait for room ends with it.
TEST_F(StepPatternTest, ABatchThatIsTakenWithoutAWaitEndsTheWaitOfItsMaker) {
  wait_for_helper(100 * kMs, 110 * kMs);
  for (Ns k = 1; k < 20; ++k) {
    add_wait(timeline_, kHelper, WaitKind::kLock, (70 + 50 * k) * kMs, (110 + 50 * k) * kMs).poster = kDriver;
  }
  add_wait(timeline_, kDriver, WaitKind::kChild, 1110 * kMs, 1111 * kMs);  // the loop has ended
  EXPECT_EQ(find().steps.size(), 20U);
}

// Computing takes 10 or 35 ms, some waits are short: a batch that was there already would not show.
TEST_F(StepPatternTest, WhereBatchesMayBeMissedThereAreNoSteps) {
  Ns at_ns = 100 * kMs;
  for (Ns k = 0; k < 40; ++k) {
    const Ns waited_ns = k % 4 == 0 ? 100'000 : 20 * kMs;
    wait_for_helper(at_ns, at_ns + waited_ns);
    at_ns += waited_ns + (k % 3 == 0 ? 35 : 10 + k % 7) * kMs;
  }
  EXPECT_TRUE(find().steps.empty());
}

// The helper opens a file for each batch and makes two of them for each wait of the driver.
TEST_F(StepPatternTest, BatchesAreCountedByTheFilesOfTheirMaker) {
  for (Ns k = 0; k < 15; ++k) {
    const Ns at_ns = (100 + 100 * k) * kMs;
    if (k % 3 == 0) {  // one
      read_file(kHelper, at_ns, at_ns + kMs);
    } else {  // two, the second while the driver computes
      read_file(kHelper, at_ns - 30 * kMs, at_ns - 29 * kMs);
      read_file(kHelper, at_ns, at_ns + kMs);
    }
    wait_for_helper(at_ns + 10 * kMs, at_ns + 60 * kMs);
  }
  thread_of(timeline_, kHelper).last_ns = 1600 * kMs;
  EXPECT_EQ(find().steps.size(), 25U);
}

// Python ends with half a second in which nothing is called.
TEST_F(StepPatternTest, TheEndOfTheProcessIsNotAStep) {
  wait_for_helper(100 * kMs, 110 * kMs);
  for (Ns k = 1; k < 20; ++k) {
    add_wait(timeline_, kHelper, WaitKind::kLock, (70 + 50 * k) * kMs, (110 + 50 * k) * kMs).poster = kDriver;
  }
  EXPECT_EQ(find().steps.size(), 20U);
}

// asyncio: the driver sends each task to the loop in the helper, and at last that it ends.
TEST_F(StepPatternTest, AMessageThatEndsAThreadIsNotATask) {
  for (Ns k = 0; k <= 20; ++k) {
    const Ns at_ns = (100 + 50 * k) * kMs;
    thread_of(timeline_, kDriver).calls.add(at_ns, at_ns + 1000, CallGroup::kChannel, {}, kMs);
    timeline_.messages[kTasks].push_back({at_ns, at_ns + 1000, kDriver, 1});
    thread_of(timeline_, kHelper).reads.push_back({at_ns + 2000, at_ns + 3000, kTasks, 1});
    if (k < 20) wait_for_helper(at_ns + kMs, at_ns + 10 * kMs);
  }
  thread_of(timeline_, kHelper).last_ns = 1101 * kMs;
  add_wait(timeline_, kDriver, WaitKind::kChild, 1900 * kMs, 1901 * kMs);
  const PatternSteps found = find();
  ASSERT_EQ(found.steps.size(), 20U);
  EXPECT_EQ(found.steps.back().end_ns, 1100 * kMs);
}

// A loop that starves: once two batches were made at the same time, and the wait after the second is a long one.
TEST_F(StepPatternTest, ABatchThatWasThereInALoopThatStarvesIsKnownByTheFilesOfItsMaker) {
  Ns at_ns = 100 * kMs, second_ns = 0;
  read_file(kHelper, at_ns - 2 * kMs, at_ns - kMs);
  for (Ns k = 0; k < 20; ++k) {
    const Ns got_ns = at_ns + (k == 11 ? 60 : 40) * kMs;
    wait_for_helper(at_ns, got_ns);
    if (k < 19) read_file(kHelper, got_ns + kMs / 10, got_ns + kMs);
    if (k == 10) read_file(kHelper, got_ns + 5 * kMs, got_ns + 6 * kMs);
    if (k == 10) second_ns = got_ns + 10 * kMs;
    at_ns = got_ns + (k == 10 ? 20 : 10) * kMs;
  }
  thread_of(timeline_, kHelper).last_ns = at_ns;
  add_wait(timeline_, kDriver, WaitKind::kChild, at_ns, at_ns + kMs);
  const PatternSteps found = find();
  ASSERT_EQ(found.steps.size(), 21U);
  EXPECT_EQ(found.steps[11].start_ns, second_ns);
}

// asyncio: a batch that was there is taken without a wait, and the thread starts long before the loop.
TEST_F(StepPatternTest, ThereAreAsManyBatchesAsTasks) {
  wait_for_helper(20 * kMs, 20 * kMs + 30'000);
  wait_for_helper(50 * kMs, 50 * kMs + 30'000);
  for (Ns k = 0; k < 20; ++k) {
    const Ns at_ns = (400 + 50 * k) * kMs;
    thread_of(timeline_, kDriver).calls.add(at_ns, at_ns + 1000, CallGroup::kChannel, {}, kMs);
    timeline_.messages[kTasks].push_back({at_ns, at_ns + 1000, kDriver, 1});
    thread_of(timeline_, kHelper).reads.push_back({at_ns + 2000, at_ns + 3000, kTasks, 1});
  }
  add_wait(timeline_, kDriver, WaitKind::kChild, 1400 * kMs, 1401 * kMs);
  const PatternSteps found = find();
  ASSERT_EQ(found.steps.size(), 20U);
  EXPECT_EQ(found.steps.front().start_ns, 400 * kMs + 1000);
}

// The helper opens a file for each batch that it is asked for. Once two are asked for at once, and the second is there already.
TEST_F(StepPatternTest, ABatchThatIsThereAlreadyIsKnownByTheFilesOfItsMaker) {
  Ns at_ns = 100 * kMs;
  for (Ns k = 0; k < 20; ++k) {
    add_wait(timeline_, kHelper, WaitKind::kLock, at_ns - 5 * kMs, at_ns).poster = kDriver;
    read_file(kHelper, at_ns + kMs, at_ns + 2 * kMs);
    if (k == 10) read_file(kHelper, at_ns + 5 * kMs, at_ns + 6 * kMs);
    wait_for_helper(at_ns + kMs / 10, at_ns + 40 * kMs);
    at_ns += (k == 10 ? 80 : 60) * kMs;
  }
  add_wait(timeline_, kDriver, WaitKind::kChild, at_ns, at_ns + kMs);
  EXPECT_EQ(find().steps.size(), 21U);
}

// Two processes that one parent started; threads of theirs pass on what they send each other.
class RanksTest : public StepPatternTest {
 protected:
  static constexpr int32_t kRank = 5, kRankLoop = 6;
  static constexpr int64_t kSocket = 4, kItsSocket = 5;

  RanksTest() {
    timeline_.processes[1].rank = 0;
    timeline_.processes[1].role = "rank 0";
    Process& other = timeline_.processes.emplace_back();
    other.proc_id = 3;
    other.pid = 103;
    other.rank = 1;
    other.role = "rank 1";
    other.last_ns = timeline_.end_ns;
    other.main = kRank;
    other.threads = {kRank, kRankLoop};
    for (const int32_t number : {kRank, kRankLoop}) {
      Thread thread;
      thread.thread_id = number;
      thread.tid = 100 + number;
      thread.proc_id = 3;
      thread.last_ns = timeline_.end_ns;
      timeline_.threads.push_back(thread);
    }
    timeline_.file_kinds.resize(6, static_cast<uint8_t>(model::FileKind::kSocket));
    timeline_.peers = {{kSocket, kItsSocket}, {kItsSocket, kSocket}};
  }
  void collective(Ns start_ns, Ns end_ns, int64_t bytes) {
    wait_for_helper(start_ns, end_ns);
    timeline_.messages[kSocket].push_back({start_ns, start_ns + 1000, kHelper, bytes});
    // The helper polls for 10 ms at a time, and only the last poll ends with the other rank's message.
    Ns at_ns = start_ns + 2000;
    for (; at_ns + 10 * kMs < end_ns; at_ns += 10 * kMs + 1000) {
      Wait& poll = add_wait(timeline_, kHelper, WaitKind::kPoll, at_ns, at_ns + 10 * kMs);
      poll.ret = 0;
      poll.fd = 7;
    }
    add_wait(timeline_, kHelper, WaitKind::kPoll, at_ns, end_ns - 2000).fd = 7;
    timeline_.messages[kItsSocket].push_back({end_ns - 4000, end_ns - 3000, kRank, bytes});
    thread_of(timeline_, kHelper).reads.push_back({end_ns - 2000, end_ns - 1000, kSocket, bytes});
  }
  // Share of the waits that were for the other rank.
  static double for_rank(const Division& division) {
    double for_rank = 0, waited = 0;
    for (const Divided& piece : division.pieces) {
      if (piece.activity != summary::Activity::kWait) continue;
      waited += piece.ns();
      for_rank += piece.thread_id == kRank ? piece.ns() : 0;
    }
    return for_rank / waited;
  }
};

// The slow one computes for 40 ms.
TEST_F(RanksTest, ACollectiveOperationEndsAStep) {
  collective(90 * kMs, 91 * kMs, 50);  // a barrier before the loop
  for (Ns k = 0; k < 20; ++k) {
    const Ns start_ns = (107 + 40 * k) * kMs;
    // It gets no processor for 8 ms between its order to the helper and its wait.
    const int64_t early = k == 8 ? 300 : 0;
    if (early != 0) {
      add_wait(timeline_, kHelper, WaitKind::kLock, start_ns - 10 * kMs, start_ns - 8 * kMs).poster = kDriver;
      timeline_.messages[kSocket].push_back({start_ns - 8 * kMs, start_ns - 8 * kMs + 1000, kHelper, early});
    }
    collective(start_ns, start_ns + 24 * kMs, 1000 - early);
    // The helper had none for a while after it was woken.
    if (k == 5)
      add_wait(timeline_, kHelper, WaitKind::kLock, (135 + 40 * k) * kMs, (139 + 40 * k) * kMs).poster = kDriver;
  }
  Lines lines;
  Divider divider(timeline_, lines);
  const Division division = divider.divide(0);
  EXPECT_GT(for_rank(division), 0.98);
  const PatternSteps found = steps_of_pattern(timeline_, division, divider.ends());
  ASSERT_EQ(found.steps.size(), 20U);
  EXPECT_EQ(found.steps.front().start_ns, 91 * kMs);
  EXPECT_EQ(found.steps.back().end_ns, 891 * kMs);
}

}  // namespace
}  // namespace mlrun::blame
