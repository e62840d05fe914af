// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/blame.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::idle {
namespace {

using model::IdleLabel;
using model::IdleLink;
using model::IdleProof;
using model::IdleRow;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kLauncher = 1;
constexpr int64_t kPipe = 1, kSocket = 9, kRegular = 10, kOtherEnd = 11;  // files 1 to 8 are pipes

// Threads 1 to 8, each the only one of its process but 7 and 8, which share one; tid is 100 more. A gap of 100 ms from 0 on
// that thread 1 ends, by a call at 90 ms.
class BlameTest : public ::testing::Test {
 protected:
  BlameTest() {
    for (int32_t number = 1; number <= 8; ++number) {
      model::ThreadRow& thread = info_.threads.emplace_back();
      thread.thread_id = number;
      thread.tid = 100 + number;
      thread.proc_id = number == 8 ? 7 : number;
      add_file("pipe:[" + std::to_string(number) + "]", "pipe");
    }
    add_file("socket:[9]", "socket");
    add_file("/data", "regular");
    add_file("socket:[11]", "socket");
    gap_.end_ns = 100 * kMs;
    gap_.gpu_id = 1;
    gap_.thread_id = kLauncher;
    gap_.launch_ns = 90 * kMs;
    gap_.correlation = 77;
  }

  void add_file(const std::string& path, const char* kind) {
    model::FileRow file;
    file.path = path;
    file.kind = kind;
    info_.files.push_back(file);
  }
  void add_call(int32_t thread, int64_t begin_ms, int64_t end_ms, Doing doing, int64_t file_id, bool writes = false) {
    Activity call{{begin_ms * kMs, end_ms * kMs}, ++calls_, file_id, doing, writes, -1, "its_call"};
    activities_.add_call(thread, call);
    if (writes) activities_.add_message(file_id, {{call.start_ns, call.end_ns}, thread});
  }
  // Thread `number` waits all the time for what the next one writes at 80 ms into the pipe between them.
  void add_pipe_to(int32_t number) {
    add_call(number, 0, 85, Doing::kChannel, number);
    add_call(number + 1, 80, 80, Doing::kFile, number, true);
  }
  std::vector<IdleRow> pieces(const std::vector<Stretch>& talks = {}, bool waits_are_known = true) {
    activities_.sort();
    Blame blame(info_, activities_, waits_are_known);
    std::vector<IdleRow> rows = blame.pieces(gap_, gap_, talks);
    int64_t at_ns = gap_.start_ns;
    for (const IdleRow& row : rows) {
      EXPECT_EQ(row.ts_ns, at_ns) << "pieces follow each other";
      EXPECT_EQ(row.correlation, 77);
      EXPECT_EQ(row.launch_thread_id, kLauncher);
      at_ns += row.dur_ns;
    }
    EXPECT_EQ(at_ns, gap_.end_ns) << "pieces add up to the gap";
    return rows;
  }
  // By label and thread, in ms.
  static std::map<std::pair<IdleLabel, int32_t>, int64_t> sums(const std::vector<IdleRow>& rows) {
    std::map<std::pair<IdleLabel, int32_t>, int64_t> all;
    for (const IdleRow& row : rows) all[{row.label, row.thread_id}] += row.dur_ns / kMs;
    return all;
  }

  model::TraceInfo info_;
  Activities activities_{"", info_, {}};
  Gap gap_;
  int64_t calls_ = 0;
};

TEST_F(BlameTest, TimeAfterTheLaunchingCallBeganIsTheLaunch) {
  const auto rows = pieces();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label, IdleLabel::kCpu);
  EXPECT_EQ(rows[0].proof, IdleProof::kNothing);
  EXPECT_EQ(rows[1].label, IdleLabel::kLaunch);
  EXPECT_EQ(rows[1].dur_ns, 10 * kMs);
  EXPECT_EQ(rows[1].proof, IdleProof::kGpuApi);
  EXPECT_EQ(rows[1].proof_ts_ns, 90 * kMs);
}

TEST_F(BlameTest, WhereNothingIsRecordedNothingIsKnown) {
  EXPECT_EQ(pieces({}, false)[0].label, IdleLabel::kUnknown);
  gap_.thread_id = gap_.launch_ns = 0;
  activities_.sort();
  Blame blame(info_, activities_, true);
  EXPECT_EQ(blame.pieces(gap_, gap_, {})[0].label, IdleLabel::kUnknown);
}

TEST_F(BlameTest, AFileCallKeepsTheShareOfItsSplit) {
  gap_.start_ns = 20 * kMs;
  add_call(kLauncher, 10, 30, Doing::kFile, kRegular);
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kFile);
  EXPECT_EQ(rows[0].dur_ns, 10 * kMs);
  EXPECT_EQ(rows[0].file_id, kRegular);
  EXPECT_EQ(rows[0].proof, IdleProof::kCall);
  EXPECT_EQ(rows[0].proof_ts_ns, 10 * kMs);
  EXPECT_FALSE(rows[0].split) << "nothing was recorded of it";
}

// Like a program's own preload that simulates storage: it sleeps within a read, by a call that is recorded too.
TEST_F(BlameTest, CallsInsideACallBelongToIt) {
  add_call(kLauncher, 10, 30, Doing::kWait, 0);
  add_call(kLauncher, 40, 60, Doing::kFile, kRegular);
  add_call(kLauncher, 10, 31, Doing::kFile, kRegular);
  add_call(kLauncher, 12, 14, Doing::kPoll, kPipe);
  add_call(kLauncher, 45, 60, Doing::kWait, 0);
  EXPECT_EQ(sums(pieces()),
            (std::map<std::pair<IdleLabel, int32_t>, int64_t>{
                {{IdleLabel::kFile, 1}, 41}, {{IdleLabel::kCpu, 1}, 49}, {{IdleLabel::kLaunch, 1}, 10}}));
}

TEST_F(BlameTest, WaitsForTheGpuOtherCudaAndFilesOfCufileAreDistinguished) {
  activities_.add_cuda(kLauncher, {{0, 10 * kMs}, 0, 0, Doing::kSync, false, -1});
  activities_.add_cuda(kLauncher, {{10 * kMs, 30 * kMs}, 0, 0, Doing::kCuda, false, -1});
  activities_.add_gpu_file(kLauncher, {{25 * kMs, 50 * kMs}, 0, kRegular, Doing::kFile, false, -1});
  const auto rows = pieces();
  const std::map<std::pair<IdleLabel, int32_t>, int64_t> expected = {{{IdleLabel::kSync, 1}, 10},
                                                                     {{IdleLabel::kCuda, 1}, 15},
                                                                     {{IdleLabel::kFile, 1}, 25},
                                                                     {{IdleLabel::kCpu, 1}, 40},
                                                                     {{IdleLabel::kLaunch, 1}, 10}};
  EXPECT_EQ(sums(rows), expected);
  EXPECT_EQ(rows[0].proof, IdleProof::kGpuApi);
  EXPECT_EQ(rows[2].proof, IdleProof::kGpuFile);
  EXPECT_EQ(rows[2].proof_ts_ns, 25 * kMs);
}

TEST_F(BlameTest, AsleepAndInTheRunQueueAreByTheKernel) {
  activities_.add_sleep(kLauncher, {{10 * kMs, 40 * kMs}, 25 * kMs, 0});
  const auto rows = pieces();
  const std::map<std::pair<IdleLabel, int32_t>, int64_t> expected = {{{IdleLabel::kCpu, 1}, 60},
                                                                     {{IdleLabel::kWait, 1}, 15},
                                                                     {{IdleLabel::kRunQueue, 1}, 15},
                                                                     {{IdleLabel::kLaunch, 1}, 10}};
  EXPECT_EQ(sums(rows), expected);
  for (const IdleRow& row : {rows[1], rows[2]}) {
    EXPECT_EQ(row.proof, IdleProof::kWait);
    EXPECT_EQ(row.proof_ts_ns, 10 * kMs) << "the row of `wait` begins with the sleep";
  }
}

TEST_F(BlameTest, CommunicationOnTheGpuIsNotAttributedToAThread) {
  add_call(kLauncher, 0, 90, Doing::kFile, kRegular);
  const auto rows = pieces({{20 * kMs, 70 * kMs}});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].label, IdleLabel::kCommunication);
  EXPECT_EQ(rows[1].dur_ns, 50 * kMs);
  EXPECT_EQ(rows[1].thread_id, 0);
  EXPECT_EQ(rows[1].proof, IdleProof::kGpuKernel);
}

TEST_F(BlameTest, WaitsAreTracedThroughAtMostFourThreads) {
  for (int32_t number = 1; number <= 5; ++number) add_pipe_to(number);
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kWait);
  EXPECT_EQ(rows[0].thread_id, 5);
  EXPECT_EQ(rows[0].hops, 4);
  EXPECT_EQ(rows[0].link, IdleLink::kPipe);
  EXPECT_EQ(rows[0].file_id, kPipe + 4) << "it waits on the pipe to the sixth";
  EXPECT_EQ(rows[0].func, "its_call");
  EXPECT_EQ(rows[0].first_call_id, 1) << "the launching thread's own wait";
}

TEST_F(BlameTest, TheFourthThreadsActivityCounts) {
  for (int32_t number = 1; number <= 4; ++number) add_pipe_to(number);
  add_call(5, 0, 80, Doing::kFile, kRegular);
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kFile);
  EXPECT_EQ(rows[0].func, "") << "what it did on the file, the file's calls tell";
  EXPECT_EQ(rows[0].thread_id, 5);
  EXPECT_EQ(rows[0].hops, 4);
}

TEST_F(BlameTest, APollIsForWhatIsReadNext) {
  add_call(kLauncher, 0, 80, Doing::kPoll, 0);
  add_call(kLauncher, 81, 81, Doing::kFile, kPipe);
  add_call(2, 79, 80, Doing::kFile, kPipe, true);
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kCpu);
  EXPECT_EQ(rows[0].thread_id, 2);
  EXPECT_EQ(rows[0].link, IdleLink::kPipe);
}

// The second message comes before the reader has got to read the first one.
TEST_F(BlameTest, OfSeveralWritersTheFirstHasEndedTheWait) {
  add_call(kLauncher, 0, 80, Doing::kPoll, 0);
  add_call(kLauncher, 81, 84, Doing::kFile, kPipe);
  add_call(2, 79, 80, Doing::kFile, kPipe, true);
  add_call(3, 82, 83, Doing::kFile, kPipe, true);
  EXPECT_EQ(pieces()[0].thread_id, 2);
}

// The writer of the previous message, which the reader has read already, is on its way back.
TEST_F(BlameTest, AWriterOnItsWayBackDoesNotEndTheNextWait) {
  add_call(kLauncher, 1, 80, Doing::kChannel, kPipe);
  add_call(3, 0, 2, Doing::kFile, kPipe, true);
  add_call(2, 79, 80, Doing::kFile, kPipe, true);
  const auto rows = sums(pieces());
  EXPECT_EQ(rows.count({IdleLabel::kCpu, 2}), 1u);
  EXPECT_EQ(rows.count({IdleLabel::kCpu, 3}), 0u);
}

// More than the pipe holds: the reader reads it in pieces.
TEST_F(BlameTest, AWriteThatHadBegunCountsWhereNoOtherDoes) {
  add_call(kLauncher, 10, 80, Doing::kChannel, kPipe);
  add_call(2, 5, 81, Doing::kFile, kPipe, true);
  EXPECT_EQ(sums(pieces()).count({IdleLabel::kFile, 2}), 1u);
}

TEST_F(BlameTest, APollThatNothingWasReadAfterStaysAWait) {
  add_call(kLauncher, 0, 60, Doing::kPoll, 0);
  add_call(kLauncher, 80, 81, Doing::kFile, kPipe);
  add_call(2, 59, 60, Doing::kFile, kPipe, true);
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kWait);
  EXPECT_EQ(rows[0].thread_id, kLauncher);
  EXPECT_EQ(rows[0].proof, IdleProof::kCall);
}

TEST_F(BlameTest, TheWakerIsToBlameWithoutAWriter) {
  add_call(kLauncher, 0, 90, Doing::kWait, 0);
  activities_.add_sleep(kLauncher, {{0, 89 * kMs}, 88 * kMs, 103});
  const auto rows = pieces();
  EXPECT_EQ(rows[0].label, IdleLabel::kCpu);
  EXPECT_EQ(rows[0].thread_id, 3);
  EXPECT_EQ(rows[0].link, IdleLink::kWaker);
}

// The id of thread 4 is that of thread 3 too, which had it earlier.
TEST_F(BlameTest, TheWakerIsTheThreadThatHadItsIdAtTheWakeUp) {
  info_.threads[2].last_ns = 95 * kMs;
  info_.threads[3].tid = info_.threads[2].tid;
  info_.threads[3].first_ns = 96 * kMs;
  info_.threads[3].last_ns = 99 * kMs;
  add_call(kLauncher, 0, 90, Doing::kWait, 0);
  activities_.add_sleep(kLauncher, {{0, 89 * kMs}, 88 * kMs, info_.threads[2].tid});
  EXPECT_EQ(pieces()[0].thread_id, 3);
}

TEST_F(BlameTest, ALockIsHeldByTheThreadOfTheProcessThatWasActiveLast) {
  gap_.thread_id = 7;
  add_call(7, 0, 90, Doing::kLock, 0);
  add_call(8, 0, 40, Doing::kFile, kRegular);
  activities_.sort();
  Blame blame(info_, activities_, true);
  const auto rows = blame.pieces(gap_, gap_, {});
  EXPECT_EQ(rows[0].label, IdleLabel::kFile);
  EXPECT_EQ(rows[0].thread_id, 8);
  EXPECT_EQ(rows[0].link, IdleLink::kProcess);
  EXPECT_EQ(rows[1].label, IdleLabel::kCpu);
  EXPECT_EQ(rows[1].thread_id, 8);
}

// A worker hands over by a local socket, of which the other end is another file.
TEST_F(BlameTest, AWaitOnALocalSocketLeadsToItsWriter) {
  activities_.add_local_socket(kSocket);
  add_call(kLauncher, 0, 80, Doing::kChannel, kSocket);
  activities_.add_message(kOtherEnd, {{79 * kMs, 80 * kMs}, 4});
  activities_.add_message(kOtherEnd, {{0, 0}, 5});
  activities_.add_message(kOtherEnd, {{85 * kMs, 86 * kMs}, 6});
  const auto rows = pieces();
  EXPECT_EQ(rows[0].thread_id, 4);
  EXPECT_EQ(rows[0].link, IdleLink::kSocket);
  EXPECT_EQ(rows[0].label, IdleLabel::kCpu);
}

TEST_F(BlameTest, ASocketToAnotherMachineHasNoWriter) {
  add_call(kLauncher, 0, 80, Doing::kChannel, kSocket);
  activities_.add_message(kOtherEnd, {{79 * kMs, 80 * kMs}, 4});
  EXPECT_EQ(pieces()[0].label, IdleLabel::kWait);
}

}  // namespace
}  // namespace mlrun::idle
