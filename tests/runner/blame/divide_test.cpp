// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/divide.h"

#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/runner/blame/made_timeline.h"

namespace mlrun::blame {
namespace {

using summary::Activity;
using summary::State;

// Time by activity and label, in ms.
std::map<std::pair<Activity, Label>, double> sums(const Division& division) {
  std::map<std::pair<Activity, Label>, double> all;
  for (const Divided& piece : division.pieces) all[{piece.activity, piece.label}] += piece.ns() / kMs;
  return all;
}

double whole(const Division& division) {
  double ns = 0;
  for (const Divided& piece : division.pieces) ns += piece.ns();
  return ns / kMs;
}

class DivideTest : public testing::Test {
 protected:
  Division divide() {
    Lines lines;
    return Divider(timeline_, lines).divide(0);
  }
  Timeline timeline_ = made_timeline(1000 * kMs);
};

TEST_F(DivideTest, AWaitIsFollowedToTheMainThreadOfTheWorker) {
  // The worker has its task at 1 ms; its feeder waits at a lock that its main thread posts.
  thread_of(timeline_, kWorkerMain).reads.push_back({kMs / 2, kMs, kTasks, 50});
  timeline_.messages[kTasks].push_back({0, kMs / 2, kHelper, 50});
  add_wait(timeline_, kFeeder, WaitKind::kLock, 2 * kMs, 99 * kMs).poster = kWorkerMain;
  add_batch(timeline_, 2 * kMs, 100 * kMs);
  add_wait(timeline_, kFeeder, WaitKind::kLock, 101 * kMs, 299 * kMs).poster = kWorkerMain;
  thread_of(timeline_, kWorkerMain).calls.add(150 * kMs, 170 * kMs, CallGroup::kRead, {}, kMs);
  add_batch(timeline_, 200 * kMs, 300 * kMs);
  add_wait(timeline_, kFeeder, WaitKind::kLock, 301 * kMs, 499 * kMs).poster = kWorkerMain;
  add_batch(timeline_, 400 * kMs, 500 * kMs);
  const Division division = divide();
  EXPECT_EQ(division.driver, kDriver);
  EXPECT_EQ(division.batches.first_ns, 100 * kMs + 2000);
  EXPECT_EQ(division.batches.last_ns, 500 * kMs + 2000);
  auto all = sums(division);
  // The calls of the worker lie between the driver's waits.
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 197, 3);
  EXPECT_NEAR((all[{Activity::kWait, Label::kSerialise}]), 3, 3);
  EXPECT_NEAR((all[{Activity::kStartup, Label::kCpu}]), 100, 2);
  EXPECT_NEAR(whole(division), 1000, 1e-6);
}

TEST_F(DivideTest, FilesOfTheWorkerAreFiles) {
  thread_of(timeline_, kWorkerMain).reads.push_back({kMs / 2, kMs, kTasks, 50});
  timeline_.messages[kTasks].push_back({0, kMs / 2, kHelper, 50});
  for (Ns at_ns = 100 * kMs; at_ns < 900 * kMs; at_ns += 100 * kMs) {
    thread_of(timeline_, kWorkerMain).calls.add(at_ns + 10 * kMs, at_ns + 80 * kMs, CallGroup::kRead, {}, kMs);
    timeline_.messages[kPipe].push_back({at_ns + 90 * kMs - 1000, at_ns + 90 * kMs, kWorkerMain, 400});
    add_wait(timeline_, kDriver, WaitKind::kPoll, at_ns, at_ns + 90 * kMs);
    thread_of(timeline_, kDriver).reads.push_back({at_ns + 90 * kMs + 1000, at_ns + 90 * kMs + 2000, kPipe, 400});
  }
  auto all = sums(divide());
  // The first batch is start-up: 7 of 8 waits count.
  EXPECT_NEAR((all[{Activity::kWait, Label::kRead}]), 490, 3);
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 140, 3);
}

TEST_F(DivideTest, AThreadThatSleepsIsNotFollowedToWhoWaitsForIt) {
  add_wait(timeline_, kHelper, WaitKind::kSleep, 0, 900 * kMs);
  for (Ns at_ns = 100 * kMs; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    add_wait(timeline_, kDriver, WaitKind::kLock, at_ns, at_ns + 50 * kMs).poster = kHelper;
  }
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kSleep}]), 350, 2);  // the first wait is start-up, the last one computes
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 50, 2);
}

// while not ready: time.sleep(0.01)
TEST_F(DivideTest, ADriverThatAsksAgainAndAgainWaitsForWhoComputes) {
  for (Ns at_ns = 100 * kMs; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    for (Ns k = 0; k < 5; ++k) {
      Wait& sleep = add_wait(timeline_, kDriver, WaitKind::kSleep, at_ns + 10 * k * kMs, at_ns + 10 * (k + 1) * kMs);
      sleep.polls = true;
    }
  }
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 450, 1);
  add_wait(timeline_, kHelper, WaitKind::kLock, 0, 1000 * kMs);  // none computes
  all = sums(divide());
  EXPECT_NEAR((all[{Activity::kCompute, Label::kSleep}]), 450, 1);
}

TEST_F(DivideTest, TwoThreadsThatWaitForEachOtherAreIdle) {
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    add_wait(timeline_, kDriver, WaitKind::kLock, at_ns, at_ns + 50 * kMs).poster = kHelper;
    add_wait(timeline_, kHelper, WaitKind::kLock, at_ns, at_ns + 50 * kMs).poster = kDriver;
  }
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kIdle}]), 450, 2);
}

TEST_F(DivideTest, AWaitForAnotherMachineEndsAtItsSocketThoughTheDriverWroteIntoThat) {
  constexpr int64_t kSocket = 4;
  timeline_.file_kinds.push_back(static_cast<uint8_t>(model::FileKind::kSocket));
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
    timeline_.messages[kSocket].push_back({at_ns + kMs, at_ns + kMs + 1000, kDriver, 400});
    add_wait(timeline_, kDriver, WaitKind::kLock, at_ns + 2 * kMs, at_ns + 51 * kMs).poster = kHelper;
    add_wait(timeline_, kHelper, WaitKind::kPoll, at_ns, at_ns + 50 * kMs);
    thread_of(timeline_, kHelper).reads.push_back({at_ns + 50 * kMs + 1000, at_ns + 50 * kMs + 2000, kSocket, 400});
  }
  double away_ns = 0;
  for (const Divided& piece : divide().pieces) {
    if (piece.away_file_id == 0) continue;
    EXPECT_EQ(piece.away_file_id, kSocket);
    EXPECT_EQ(piece.state, State::kRemote);
    away_ns += piece.ns();
  }
  EXPECT_NEAR(away_ns / kMs, 480, 2);
}

TEST_F(DivideTest, SamplesDivideWhatTheDriverDoesItself) {
  timeline_.stacks[1] = {{"step", "/home/me/train.py", 3}};
  timeline_.stacks[2] = {{"Images.__getitem__", "/home/me/data.py", 7}};
  for (Ns at_ns = 10 * kMs; at_ns < 1000 * kMs; at_ns += 20 * kMs) {
    thread_of(timeline_, kDriver).samples.push_back({at_ns, at_ns, 1, at_ns < 500 * kMs ? 1 : 2, 1, false});
  }
  const Division division = divide();
  auto all = sums(division);
  EXPECT_TRUE(division.driver_seen);
  EXPECT_NEAR((all[{Activity::kLoader, Label::kLoader}]), 490, 15);
  EXPECT_NEAR((all[{Activity::kStartup, Label::kCpu}]), 510, 15);
  EXPECT_NEAR(whole(division), 1000, 1e-6);
}

TEST_F(DivideTest, ACheckpointIsFromOpeningToClosing) {
  timeline_.savings[kDriver].push_back({100 * kMs, 300 * kMs, 5 << 20, kData, 1, 4});
  timeline_.savings[kDriver].push_back({400 * kMs, 500 * kMs, 1000, kData, 0, 4});  // small: no checkpoint
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kCheckpoint, Label::kCheckpoint}]), 200, 1e-3);
}

TEST_F(DivideTest, SyncedAppendsAreALog) {
  Saving log{100 * kMs, 900 * kMs, 4000, kData, 40, 40};
  for (Ns at_ns = 100 * kMs; at_ns < 900 * kMs; at_ns += 20 * kMs) log.bursts.emplace_back(at_ns, at_ns + 5 * kMs);
  timeline_.savings[kDriver].push_back(log);
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kLogging, Label::kLogging}]), 200, 1e-3);
}

TEST_F(DivideTest, TimesOfTheSchedulerAreRunQueueAndPageFaults) {
  Usage usage;
  usage.end_ns = 1000 * kMs;
  usage.queued = 0.3;
  usage.faulting = 0.2;
  thread_of(timeline_, kDriver).usage.push_back(usage);
  double queued = 0, faulting = 0;
  for (const Divided& piece : divide().pieces) {
    if (piece.state == State::kRunQueue) queued += piece.ns() / kMs;
    if (piece.state == State::kPageFault) faulting += piece.ns() / kMs;
  }
  EXPECT_NEAR(queued, 300, 1);
  EXPECT_NEAR(faulting, 200, 1);
}

// A mutex of libc leaves no call.
TEST_F(DivideTest, SleepThatNoCallExplainsIsSleep) {
  Usage usage;
  usage.end_ns = 1000 * kMs;
  usage.asleep = 0.6;
  thread_of(timeline_, kHelper).usage.push_back(usage);
  for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs)
    add_wait(timeline_, kDriver, WaitKind::kLock, at_ns, at_ns + 50 * kMs).poster = kHelper;
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kAsleep}]), 270, 2);  // the first wait is start-up
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 180, 2);
}

// multiprocessing.Lock: workers wait, and no thread of their process posts. Forked ones have it at one address, spawned ones at several. The lock
// of a queue is followed by reading it.
TEST_F(DivideTest, WorkersThatShareALockWaitForIt) {
  constexpr int32_t kOther = 5;
  for (const bool forked : {true, false}) {
    timeline_ = made_timeline(1000 * kMs);
    add_process(timeline_, 3, 1, kOther, 0, timeline_.end_ns).role = "DataLoader worker";
    timeline_.has_posts = true;
    for (const int32_t one : {kWorkerMain, kOther}) {
      Process& worker = timeline_.processes[static_cast<size_t>(thread_of(timeline_, one).proc_id)];
      worker.forked = forked;
      if (!forked) worker.command = "python -c 'from multiprocessing.spawn import spawn_main; spawn_main()'";
      thread_of(timeline_, one).reads.push_back({kMs / 2, kMs, kTasks, 50});
      const int64_t address = forked ? 7 : 100 + one;
      for (Ns at_ns = 10 * kMs; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
        add_wait(timeline_, one, WaitKind::kLock, at_ns, at_ns + 40 * kMs).argument = address;
        if (!forked) continue;
        add_wait(timeline_, one, WaitKind::kLock, at_ns + 60 * kMs, at_ns + 80 * kMs).argument = 8;
        thread_of(timeline_, one).reads.push_back({at_ns + 80 * kMs + 1000, at_ns + 80 * kMs + 2000, kTasks, 50});
      }
    }
    for (Ns at_ns = 0; at_ns < 1000 * kMs; at_ns += 100 * kMs) {
      add_wait(timeline_, kDriver, WaitKind::kPoll, at_ns, at_ns + 95 * kMs);
      thread_of(timeline_, kDriver).reads.push_back({at_ns + 95 * kMs + 1000, at_ns + 95 * kMs + 2000, kPipe, 400});
      timeline_.messages[kPipe].push_back({at_ns + 95 * kMs - 1000, at_ns + 95 * kMs, kWorkerMain, 400});
    }
    auto all = sums(divide());
    EXPECT_NEAR((all[{Activity::kWait, Label::kFileLock}]), 360, 2) << forked;  // the first wait is start-up
  }
}

// The shell of a pipeline sleeps, then runs the program that writes.
TEST_F(DivideTest, BeforeAProgramRanItsParentIsFollowed) {
  constexpr int32_t kShell = 5, kProgram = 6;
  for (const auto& [thread_id, proc_id, parent] : {std::tuple{kShell, 3, 1}, std::tuple{kProgram, 4, 3}}) {
    add_process(timeline_, proc_id, parent, thread_id, thread_id == kProgram ? 380 * kMs : 0, 410 * kMs);
  }
  add_wait(timeline_, kShell, WaitKind::kSleep, 100 * kMs, 370 * kMs);
  add_batch(timeline_, 0, 10 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kChannelRead, 200 * kMs, 400 * kMs);
  thread_of(timeline_, kDriver).reads.push_back({200 * kMs, 400 * kMs, kTasks, 400});
  timeline_.messages[kTasks].push_back({399 * kMs, 400 * kMs, kProgram, 400});
  add_batch(timeline_, 900 * kMs, 910 * kMs);
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kSleep}]), 170, 1e-3);
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 30, 1);
}

// The thread of a worker's queue begins when the first batch is put into it.
TEST_F(DivideTest, BeforeAThreadRanTheMainThreadOfItsProcessIsFollowed) {
  add_batch(timeline_, 0, 10 * kMs);
  thread_of(timeline_, kFeeder).first_ns = 380 * kMs;
  add_wait(timeline_, kWorkerMain, WaitKind::kSleep, 100 * kMs, 370 * kMs);
  add_batch(timeline_, 200 * kMs, 400 * kMs);
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kWait, Label::kSleep}]), 170, 1e-3);
  EXPECT_NEAR((all[{Activity::kWait, Label::kCpu}]), 10, 1);
  EXPECT_NEAR((all[{Activity::kWait, Label::kSerialise}]), 20, 1);
}

// A monitor for each step, as its stacks say.
TEST_F(DivideTest, ACommandThatTheLoopRunsIsNotAWaitForABatch) {
  constexpr int32_t kCommand = 5;
  add_process(timeline_, 3, 1, kCommand, 310 * kMs, 390 * kMs).pid = 103;
  add_batch(timeline_, 0, 10 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kChild, 300 * kMs, 391 * kMs).argument = 103;
  add_batch(timeline_, 900 * kMs, 910 * kMs);
  const auto waited = [&] {
    double ns = 0;
    for (const auto& [what, part] : sums(divide())) ns += what.first == Activity::kWait ? part : 0;
    return ns;
  };
  EXPECT_NEAR(waited(), 101, 1);
  timeline_.stacks[1] = {{"monitor", "/home/me/train.py", 3}};
  thread_of(timeline_, kDriver).samples.push_back({350 * kMs, 350 * kMs, 1, 1, 0, false});
  EXPECT_NEAR(waited(), 10, 1);
}

TEST_F(DivideTest, ADriverWhoseOutputIsReadSlowlyLogs) {
  add_batch(timeline_, 0, 10 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kChannelWrite, 100 * kMs, 300 * kMs).fd = 1;
  add_wait(timeline_, kDriver, WaitKind::kChannelWrite, 400 * kMs, 450 * kMs).fd = 9;
  add_batch(timeline_, 900 * kMs, 910 * kMs);
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kLogging, Label::kLogging}]), 200, 1e-3);
  EXPECT_NEAR((all[{Activity::kWait, Label::kTransfer}]), 50, 1e-3);
}

TEST_F(DivideTest, ACheckpointThatAnotherThreadWritesIsACheckpoint) {
  add_batch(timeline_, 0, 10 * kMs);
  timeline_.savings[kHelper].push_back({150 * kMs, 310 * kMs, 5 << 20, kData, 1, 4});
  add_wait(timeline_, kDriver, WaitKind::kLock, 200 * kMs, 300 * kMs).poster = kHelper;
  add_wait(timeline_, kDriver, WaitKind::kLock, 400 * kMs, 450 * kMs).poster = kHelper;
  add_batch(timeline_, 900 * kMs, 910 * kMs);
  std::map<Activity, double> all;
  for (const auto& [what, ms] : sums(divide())) all[what.first] += ms;
  EXPECT_NEAR(all[Activity::kCheckpoint], 100, 1e-3);
  EXPECT_NEAR(all[Activity::kWait], 60, 1);
}

TEST_F(DivideTest, AFileThatIsOpenedForEachSyncedLineIsALog) {
  for (Ns at_ns = 100 * kMs; at_ns < 900 * kMs; at_ns += 100 * kMs) {
    Saving line{at_ns, at_ns + 20 * kMs, 80, kData, 1, 1};
    line.appends = true;
    timeline_.savings[kDriver].push_back(line);
  }
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kLogging, Label::kLogging}]), 160, 1e-3);
}

// A loader that is made again for a second epoch: the driver reads its index at 300 ms, and forks at 400 ms.
TEST_F(DivideTest, TimeToRestartWorkersIsStartOfWorkers) {
  constexpr int32_t kSecond = 5;
  add_process(timeline_, 3, 1, kSecond, 400 * kMs, 1000 * kMs).forked = true;
  timeline_.stacks[1] = {{"step", "/home/me/train.py", 3}};
  timeline_.stacks[2] = {{"Captions.__init__", "/home/me/data.py", 7}, {"main", "/home/me/train.py", 9}};
  for (Ns at_ns = 10 * kMs; at_ns < 1000 * kMs; at_ns += 20 * kMs) {
    const bool makes = at_ns > 300 * kMs && at_ns < 400 * kMs;
    thread_of(timeline_, kDriver).samples.push_back({at_ns, at_ns, 1, makes ? 2 : 1, 1, false});
  }
  add_batch(timeline_, 0, 10 * kMs);
  add_batch(timeline_, 250 * kMs, 260 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kPoll, 450 * kMs, 480 * kMs);
  thread_of(timeline_, kDriver).reads.push_back({480 * kMs + 1000, 480 * kMs + 2000, kPipe, 400});
  timeline_.messages[kPipe].push_back({480 * kMs - 1000, 480 * kMs, kSecond, 400});
  double ms = 0;
  for (const Divided& piece : divide().pieces) {
    if (!piece.for_workers) continue;
    EXPECT_EQ(piece.activity, Activity::kLoader);
    ms += piece.ns() / kMs;
  }
  EXPECT_NEAR(ms, 100, 1);
  timeline_.processes.back().first_ns = 900 * kMs;  // long after the next batch
  for (const Divided& piece : divide().pieces) EXPECT_FALSE(piece.for_workers);
}

TEST_F(DivideTest, AThreadThatIsJoinedDrives) {
  Thread& trainer = thread_of(timeline_, kHelper);
  trainer.first_ns = 50 * kMs;
  trainer.last_ns = 950 * kMs;
  add_wait(timeline_, kDriver, WaitKind::kLock, 60 * kMs, 951 * kMs);
  const Division division = divide();
  EXPECT_EQ(division.driver, kHelper);
  EXPECT_NEAR(whole(division), 1000, 1e-6);
}

// bash -c 'train; report': the report ends last.
TEST_F(DivideTest, OfCommandsOneAfterTheOtherTheLongestDrives) {
  constexpr int32_t kTraining = 5, kReport = 6;
  add_process(timeline_, 3, 1, kTraining, 20 * kMs, 700 * kMs);
  add_process(timeline_, 4, 1, kReport, 710 * kMs, 990 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kChild, 21 * kMs, 701 * kMs);
  add_wait(timeline_, kDriver, WaitKind::kChild, 711 * kMs, 991 * kMs);
  const Division division = divide();
  EXPECT_EQ(division.driver, kTraining);
  EXPECT_NEAR(whole(division), 1000, 1e-6);
}

// It reads an index for 300 ms; then there is a sample in every second step of 20 ms.
TEST_F(DivideTest, ShortStretchesWithoutASampleAreNotLikePartsOfALongOne) {
  timeline_.stacks[1] = {{"step", "/home/me/train.py", 3}};
  timeline_.stacks[2] = {{"load", "/home/me/data.py", 7}};
  add_batch(timeline_, 0, 10 * kMs);
  auto& samples = thread_of(timeline_, kDriver).samples;
  for (Ns at_ns = 20 * kMs; at_ns < 300 * kMs; at_ns += 20 * kMs) samples.push_back({at_ns, at_ns, 1, 2, 1, false});
  for (Ns at_ns = 300 * kMs; at_ns < 980 * kMs; at_ns += 40 * kMs) {
    add_batch(timeline_, at_ns, at_ns + 20 * kMs);
    if (at_ns % (80 * kMs) == 60 * kMs) samples.push_back({at_ns + 30 * kMs, at_ns + 30 * kMs, 1, 1, 1, false});
  }
  double loaded = 0;
  for (const Divided& piece : divide().pieces) {
    if (piece.start_ns >= 300 * kMs && piece.activity == Activity::kLoader) loaded += piece.ns() / kMs;
  }
  EXPECT_NEAR(loaded, 0, 1e-3);
}

TEST_F(DivideTest, PageFaultsOfLoadingInTheDriverAreLoading) {
  Usage usage;
  usage.end_ns = 1000 * kMs;
  usage.faulting = 0.6;
  thread_of(timeline_, kDriver).usage.push_back(usage);
  timeline_.stacks[1] = {{"step", "/home/me/train.py", 3}};
  timeline_.stacks[2] = {{"Rows.__getitem__", "/home/me/data.py", 7}};
  for (Ns at_ns = 10 * kMs; at_ns < 1000 * kMs; at_ns += 20 * kMs) {
    thread_of(timeline_, kDriver)
        .samples.push_back({at_ns, at_ns, 1, at_ns % (200 * kMs) < 100 * kMs ? 2 : 1, 1, false});
  }
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kLoader, Label::kPageFault}]), 300, 20);
  EXPECT_NEAR((all[{Activity::kCompute, Label::kPageFault}]), 300, 20);
}

TEST_F(DivideTest, AThreadForABatchDoesNotDriveHoweverLongItTakes) {
  timeline_ = made_timeline(10'000 * kMs);
  Thread& maker = thread_of(timeline_, kHelper);
  maker.first_ns = 50 * kMs;
  maker.last_ns = 350 * kMs;
  add_wait(timeline_, kDriver, WaitKind::kLock, 60 * kMs, 351 * kMs);
  EXPECT_EQ(divide().driver, kDriver);
}

TEST_F(DivideTest, WithoutSamplesComputingIsDividedAsTheSchedulerCounted) {
  Usage usage;
  usage.end_ns = 1000 * kMs;
  usage.in_kernel = 0.4;
  thread_of(timeline_, kDriver).usage.push_back(usage);
  auto all = sums(divide());
  EXPECT_NEAR((all[{Activity::kCompute, Label::kKernel}]), 400, 1);
  EXPECT_NEAR((all[{Activity::kCompute, Label::kCpu}]), 600, 1);
}

// mp.spawn: the tracker of multiprocessing begins before the first rank, and ends after it.
TEST_F(DivideTest, AHelperOfMultiprocessingDoesNotDrive) {
  add_wait(timeline_, kDriver, WaitKind::kPoll, 20 * kMs, 990 * kMs);
  Process& tracker = timeline_.processes[2];
  tracker.role = "resource tracker";
  tracker.forked = false;
  tracker.first_ns = 10 * kMs;
  constexpr int32_t kRank = 5;
  add_process(timeline_, 3, 1, kRank, 15 * kMs, 980 * kMs).role = "child";
  EXPECT_EQ(divide().driver, kRank);
}

// The pin-memory thread gets the batches from the worker; the driver waits for a later one only.
TEST_F(DivideTest, TheFirstBatchIsThereWhenAThreadOfTheProcessHasIt) {
  timeline_.messages[kPipe].push_back({99 * kMs, 100 * kMs, kFeeder, 400});
  thread_of(timeline_, kHelper).reads.push_back({99 * kMs, 101 * kMs, kPipe, 400});
  for (Ns k = 0; k < 10; ++k)
    add_wait(timeline_, kDriver, WaitKind::kLock, (500 + 40 * k) * kMs, (510 + 40 * k) * kMs).poster = kHelper;
  EXPECT_EQ(divide().batches.first_ns, 101 * kMs);
}

TEST_F(DivideTest, WithoutAThreadThereIsNothing) {
  timeline_ = Timeline();
  EXPECT_EQ(divide().driver, 0);
}

}  // namespace
}  // namespace mlrun::blame
