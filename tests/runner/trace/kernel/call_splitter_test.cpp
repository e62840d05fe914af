// SPDX-License-Identifier: Apache-2.0
// Tests the split of a call's time: it adds up for any intervals, and each label follows its definition.
#include "runner/trace/kernel/call_splitter.h"

#include <fcntl.h>

#include <random>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/kernel/kernel_window.h"
#include "runner/trace/kernel/time_sweep.h"

namespace mlrun::trace {
namespace {

TEST(TimeSweep, AddsUpToTheDurationForAnyInput) {
  std::mt19937_64 random(1);
  TimeSweep sweep;
  for (int round = 0; round < 2000; ++round) {
    const auto at = [&] { return static_cast<int64_t>(random() % 2000); };
    const int64_t from = at(), to = from + at();
    sweep.begin(from, to);
    for (uint64_t i = random() % 20; i > 0; --i) sweep.add(static_cast<Span>(random() % kSpans), at() - 500, at() * 2);
    const model::CallSplit split = sweep.finish();
    ASSERT_EQ(split.sum(), to - from);
    for (const int64_t ns : {split.own_ns, split.runq_ns, split.vfs_ns, split.queue_ns, split.device_ns,
                             split.remote_ns, split.wait_ns, split.device_shared_ns}) {
      ASSERT_GE(ns, 0);
    }
    ASSERT_LE(split.device_shared_ns, split.device_ns);
  }
}

TEST(TimeSweep, TheFirstLabelThatFitsWins) {
  TimeSweep sweep;
  sweep.begin(0, 100);
  sweep.add(Span::kOperation, 0, 90);
  sweep.add(Span::kAsleep, 10, 80);
  sweep.add(Span::kQueue, 10, 30);
  sweep.add(Span::kDevice, 20, 50);
  sweep.add(Span::kSharedDevice, 40, 60);
  sweep.add(Span::kReady, 75, 85);
  const model::CallSplit split = sweep.finish();
  EXPECT_EQ(split.vfs_ns, 10 + 5);
  EXPECT_EQ(split.queue_ns, 10);
  EXPECT_EQ(split.device_ns, 40);
  EXPECT_EQ(split.device_shared_ns, 10);
  EXPECT_EQ(split.wait_ns, 15);
  EXPECT_EQ(split.runq_ns, 10);
  EXPECT_EQ(split.own_ns, 10);
}

constexpr uint32_t kDisk = 254u << 20, kPartition = kDisk + 1;
constexpr uint32_t kAsleep = 2;  // uninterruptible

// A file /a (inode 12 on the partition) and the records of its kernel side.
class CallSplitterTest : public ::testing::Test {
 protected:
  CallSplitterTest() {
    model::FileRow file;
    file.path = "/a";
    file.dev = stat_device(kPartition);
    file.ino = 12;
    file.kind = "regular";
    files_.push_back(file);
    splitter_.emplace(window_, files_);
  }

  void wait(uint32_t tid, uint64_t off_ns, uint64_t wake_ns, uint64_t on_ns, uint32_t flags = 0, uint64_t request = 0) {
    mlrun_wait record{};
    record.head.tid = tid;
    record.head.time_ns = on_ns;
    record.off_ns = off_ns;
    record.wake_ns = wake_ns;
    record.state = (flags & MLRUN_WAIT_PREEMPTED) != 0 ? 0 : kAsleep;
    record.flags = flags;
    record.waker_request = request;
    window_.add(record);
  }

  void file_op(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t outer = 0) {
    mlrun_file_op record{};
    record.head.tid = tid;
    record.head.time_ns = end_ns;
    record.begin_ns = begin_ns;
    record.outer = outer;
    window_.add(record);
  }

  void remote(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t inode = 0) {
    mlrun_remote record{};
    record.head.tid = tid;
    record.head.time_ns = end_ns;
    record.begin_ns = begin_ns;
    record.inode = inode;
    record.device = kPartition;
    window_.add(record);
  }

  static mlrun_bio_fragment fragment(uint32_t tid, uint64_t queue_ns, uint64_t issue_ns, uint64_t done_ns) {
    mlrun_bio_fragment record{};
    record.head.tid = tid;
    record.head.time_ns = done_ns;
    record.queued_at_ns = queue_ns;
    record.issued_at_ns = issue_ns;
    record.request = 5;
    record.inode = 12;
    record.file_device = kPartition;
    record.file_end = 4096;
    return record;
  }

  // The fragment's request on the disk, over at 1040, and the flush of the disk that follows, from 1050 to 1070.
  void add_with_flush(const mlrun_bio_fragment& fragment) {
    window_.add(fragment);
    mlrun_block_request request{};
    request.head.time_ns = 1040;
    request.request = fragment.request;
    request.device = kDisk;
    window_.add(request);
    request.head.time_ns = 1070;
    request.request = 6;
    request.issued_at_ns = 1050;
    request.op = MLRUN_BLOCK_FLUSH;
    window_.add(request);
  }

  model::CallSplit split(uint16_t func, int64_t ts_ns, int64_t dur_ns, int64_t requested = 4096, int64_t offset = 0) {
    const auto found = splitter_->split(row(func, ts_ns, dur_ns, requested, offset));
    EXPECT_TRUE(found.has_value());
    EXPECT_EQ(found.value_or(model::CallSplit()).sum(), dur_ns);
    return found.value_or(model::CallSplit());
  }
  static model::CallRow row(uint16_t func, int64_t ts_ns, int64_t dur_ns, int64_t requested = 4096,
                            int64_t offset = 0) {
    model::CallRow call;
    call.origin.tid = 7;
    call.origin.ts_ns = ts_ns;
    call.dur_ns = dur_ns;
    call.func = func;
    call.file_id = 1;
    call.ofd_id = 3;
    call.requested = requested;
    call.offset = offset;
    return call;
  }

  static constexpr uint16_t kRead = events::func::k_pread, kWrite = events::func::k_pwrite,
                            kSync = events::func::k_fsync, kOpen = events::func::k_open;
  model::FileTable files_;
  KernelWindow window_;
  std::optional<CallSplitter> splitter_;
};

TEST_F(CallSplitterTest, SleepForAServerIsThatOfTheCallThatAsked) {
  remote(7, 1010, 1060);
  remote(8, 1000, 1090);      // another thread's, of no file that is known
  remote(7, 2000, 2000 - 1);  // damaged: it ends before it begins
  wait(7, 1015, 1065, 1070);
  const model::CallSplit found = split(kRead, 1000, 100);
  EXPECT_EQ(found.remote_ns, 45);
  EXPECT_EQ(found.wait_ns, 5);
  EXPECT_EQ(found.runq_ns, 5);
}

TEST_F(CallSplitterTest, SleepForAServerMayBeForWhatWasAskedBeforeForTheSameFile) {
  remote(7, 900, 1040, 12);
  remote(8, 950, 1060, 12);
  remote(7, 950, 1080, 13);  // another file
  wait(7, 1010, 1090, 1090);
  const model::CallSplit found = split(kRead, 1000, 100);
  EXPECT_EQ(found.remote_ns, 50);
  EXPECT_EQ(found.wait_ns, 30);
}

TEST_F(CallSplitterTest, ADeviceComesBeforeAServer) {
  window_.add(fragment(7, 1010, 1010, 1050));
  remote(7, 1010, 1080);
  wait(7, 1010, 1080, 1080);
  const model::CallSplit found = split(kRead, 1000, 100);
  EXPECT_EQ(found.device_ns, 40);
  EXPECT_EQ(found.remote_ns, 30);
}

TEST_F(CallSplitterTest, OwnFragmentsAreQueueAndDevice) {
  window_.add(fragment(7, 1010, 1020, 1080));
  wait(7, 1015, 1085, 1090);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.queue_ns, 5);
  EXPECT_EQ(split.device_ns, 60);
  EXPECT_EQ(split.device_shared_ns, 0);
  EXPECT_EQ(split.wait_ns, 5);
  EXPECT_EQ(split.runq_ns, 5);
  EXPECT_EQ(split.own_ns, 25);
}

TEST_F(CallSplitterTest, AnotherProcesssFragmentOfTheSameRangeIsShared) {
  window_.add(fragment(8, 900, 910, 1080));
  wait(7, 1010, 1085, 1085);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.device_ns, 70);
  EXPECT_EQ(split.device_shared_ns, 70);
  EXPECT_EQ(this->split(kRead, 1000, 100, 4096, 8192).device_ns, 0) << "another range";
}

// Linux's asynchronous I/O and io_uring: the thread that hands it in is in no call that is recorded.
TEST_F(CallSplitterTest, EarlierRequestsAreNotWaitedFor) {
  mlrun_bio_fragment handed_in = fragment(7, 900, 910, 1080);
  handed_in.flags = MLRUN_BLOCK_ANONYMOUS;
  handed_in.inode = handed_in.file_end = 0;
  window_.add(handed_in);
  wait(7, 1010, 1090, 1090);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.device_ns, 0);
  EXPECT_EQ(split.wait_ns, 80);
}

TEST_F(CallSplitterTest, ReadingAheadIsNotWaitedFor) {
  auto ahead = fragment(7, 1010, 1020, 1080);
  ahead.file_begin = 65536;
  ahead.file_end = 131072;
  window_.add(ahead);
  wait(7, 1015, 1085, 1085);
  EXPECT_EQ(split(kRead, 1000, 100).wait_ns, 70);
}

TEST_F(CallSplitterTest, AllQueuedRequestsCountWhileItsThreadIsSubmitting) {
  auto ahead = fragment(7, 1010, 1040, 1080);
  ahead.file_begin = 65536;
  ahead.file_end = 131072;
  window_.add(ahead);
  wait(7, 1005, 1050, 1050, MLRUN_WAIT_SUBMITTING);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.queue_ns, 35);
  EXPECT_EQ(split.device_ns, 10);
}

TEST_F(CallSplitterTest, AWriterThrottledForDirtyPagesWaitsForNoRequest) {
  window_.add(fragment(7, 1010, 1040, 1080));  // what it writes over is being written
  wait(7, 1005, 1060, 1065, MLRUN_WAIT_THROTTLED | MLRUN_WAIT_IO, 5);
  const auto split = this->split(kWrite, 1000, 100);
  EXPECT_EQ(split.wait_ns, 55);
  EXPECT_EQ(split.runq_ns, 5);
  EXPECT_EQ(split.queue_ns + split.device_ns, 0);
}

TEST_F(CallSplitterTest, TheRequestThatWokeItExplainsWhatNothingElseDoes) {
  mlrun_block_request request{};
  request.head.time_ns = 1060;
  request.request = 9;
  request.queued_at_ns = 1020;
  request.issued_at_ns = 1030;
  window_.add(request);
  wait(7, 1010, 1070, 1070, 0, 9);
  const auto split = this->split(kOpen, 1000, 100, -1, -1);
  EXPECT_EQ(split.queue_ns, 10);
  EXPECT_EQ(split.device_ns, 30);
  EXPECT_EQ(split.device_shared_ns, 30);
  EXPECT_EQ(split.wait_ns, 20);
}

TEST_F(CallSplitterTest, SyncWaitsForTheJournalAndForFlushesOfTheDisk) {
  auto journal = fragment(99, 1010, 1020, 1040);
  journal.inode = 0;
  journal.op = MLRUN_BLOCK_WRITE;
  journal.flags = MLRUN_BLOCK_METADATA_WRITE;
  add_with_flush(journal);
  wait(7, 1005, 1080, 1080);
  const auto split = this->split(kSync, 1000, 100, -1, -1);
  EXPECT_EQ(split.device_ns, 20 + 20);
  EXPECT_EQ(split.device_shared_ns, 0);
  EXPECT_EQ(split.queue_ns, 10);
  EXPECT_EQ(this->split(kWrite, 1000, 100).device_ns, 0) << "a write that nothing has to be on the disk for";
  auto opened = row(kOpen, 900, 10, -1, -1);
  opened.flags = O_WRONLY | O_SYNC;
  EXPECT_TRUE(splitter_->split(opened).has_value());
  EXPECT_EQ(this->split(kWrite, 1000, 100).device_ns, 40) << "through the same description";
}

TEST_F(CallSplitterTest, OnAProcessorInsideAFileOperationIsVfs) {
  file_op(7, 1030, 1040, 1);  // inside the next one
  file_op(7, 1010, 1090);
  file_op(8, 1000, 1100);  // another thread's
  window_.add(fragment(7, 1020, 1030, 1060));
  wait(7, 1025, 1065, 1070);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.vfs_ns, 15 + 20);
  EXPECT_EQ(split.own_ns, 10 + 10);
  EXPECT_EQ(split.queue_ns, 5);
  EXPECT_EQ(split.device_ns, 30);
  EXPECT_EQ(split.wait_ns, 5);
  EXPECT_EQ(split.runq_ns, 5);
}

TEST_F(CallSplitterTest, AFileOperationOfSeveralCallsIsSharedOut) {
  file_op(7, 950, 1050);
  file_op(7, 1060, 1500);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.vfs_ns, 50 + 40);
  EXPECT_EQ(this->split(kRead, 1050, 10).own_ns, 10);
}

TEST_F(CallSplitterTest, APreemptionIsTheRunQueue) {
  wait(7, 1010, 1010, 1040, MLRUN_WAIT_PREEMPTED);
  const auto split = this->split(kRead, 1000, 100);
  EXPECT_EQ(split.runq_ns, 30);
  EXPECT_EQ(split.own_ns, 70);
}

TEST_F(CallSplitterTest, AnotherThreadsWaitsAreNotItsOwn) {
  wait(8, 1010, 1080, 1090);
  EXPECT_EQ(split(kRead, 1000, 100).own_ns, 100);
}

TEST_F(CallSplitterTest, ASyncThatNamesNoFileWaitsForWhatItsThreadHadWritten) {
  auto written = fragment(7, 1010, 1015, 1040);
  written.op = MLRUN_BLOCK_WRITE;
  add_with_flush(written);
  wait(7, 1005, 1080, 1080);
  auto msync = row(events::func::k_msync, 1000, 100, -1, -1);
  msync.file_id = 0;
  const auto split = splitter_->split(msync);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->device_ns, 25 + 20);
  EXPECT_EQ(split->sum(), 100);
}

// The operations themselves, of the table vfs.
class OperationSplitTest : public CallSplitterTest {
 protected:
  static FileOpRow operation(uint32_t op, int64_t ts_ns, int64_t end_ns) {
    FileOpRow row;
    row.ts_ns = ts_ns;
    row.end_ns = end_ns;
    row.origin.tid = 7;
    row.record.op = op;
    row.record.operation = 100;
    row.record.inode = 12;
    row.record.device = kPartition;
    row.record.requested = 4096;
    return row;
  }
  model::CallSplit split_of(const FileOpRow& row, int64_t wanted_ns, bool syncs = false) {
    const auto found = splitter_->split(row, syncs);
    EXPECT_TRUE(found.has_value());
    EXPECT_EQ(found.value_or(model::CallSplit()).sum(), wanted_ns);
    EXPECT_EQ(found.value_or(model::CallSplit()).own_ns, 0);
    return found.value_or(model::CallSplit());
  }
};

TEST_F(OperationSplitTest, AFaultWaitsForItsPage) {
  window_.add(fragment(7, 1010, 1020, 1080));
  wait(7, 1015, 1085, 1090);
  const auto split = split_of(operation(MLRUN_FILE_FAULT, 1000, 1100), 100);
  EXPECT_EQ(split.vfs_ns, 15 + 10);
  EXPECT_EQ(split.queue_ns, 5);
  EXPECT_EQ(split.device_ns, 60);
  EXPECT_EQ(split.wait_ns, 5);
  EXPECT_EQ(split.runq_ns, 5);
}

TEST_F(OperationSplitTest, AnAsynchronousOperationWaitsForItsOwnFragmentsUntilItEnds) {
  auto own = fragment(7, 1010, 1030, 1500), others = fragment(7, 1011, 1012, 1600);
  own.operation = 100;
  others.operation = 101;
  own.flags = others.flags = MLRUN_BLOCK_ANONYMOUS;
  own.inode = others.inode = 0;
  window_.add(own);
  window_.add(others);
  wait(7, 1100, 1300, 1300);  // its thread's, for something else
  auto row = operation(MLRUN_FILE_READ, 1000, 1050);
  row.record.flags = MLRUN_FILE_LATER | MLRUN_FILE_DIRECT;
  EXPECT_FALSE(splitter_->split(row, false).has_value()) << "its end is unknown";
  row.done = Completion{1520, 4096};
  const auto split = split_of(row, 520);
  EXPECT_EQ(split.queue_ns, 20);
  EXPECT_EQ(split.device_ns, 470);
  EXPECT_EQ(split.wait_ns, 10 + 20);
  row.done = Completion{990, 4096};  // another processor recorded it before
  EXPECT_EQ(split_of(row, 0).vfs_ns, 0);
}

TEST_F(OperationSplitTest, AWriteWithASyncInsideWaitsForTheJournal) {
  auto journal = fragment(99, 1010, 1020, 1040);
  journal.inode = 0;
  journal.op = MLRUN_BLOCK_WRITE;
  journal.flags = MLRUN_BLOCK_METADATA_WRITE;
  window_.add(journal);
  wait(7, 1005, 1080, 1080);
  EXPECT_EQ(split_of(operation(MLRUN_FILE_WRITE, 1000, 1100), 100).device_ns, 0);
  EXPECT_EQ(split_of(operation(MLRUN_FILE_WRITE, 1000, 1100), 100, true).device_ns, 20);
  EXPECT_EQ(split_of(operation(MLRUN_FILE_SYNC, 1000, 1100), 100).device_ns, 20);
}

TEST_F(OperationSplitTest, DamagedNumbersGiveNoRange) {
  window_.add(fragment(7, 1010, 1020, 1080));
  wait(7, 1015, 1085, 1090);
  for (const uint64_t wild : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{INT64_MAX}}) {
    auto row = operation(MLRUN_FILE_READ, 1000, 1100);
    row.record.offset = row.record.requested = wild;
    row.record.result = INT64_MIN;
    split_of(row, 100);
  }
}

TEST_F(CallSplitterTest, ATimeWithLossesIsNotSplit) {
  mlrun_kernel_loss loss{};
  loss.head.time_ns = 1050;
  loss.first_ns = 1040;
  loss.reason = MLRUN_KERNEL_LOSS_RING;
  window_.add(loss);
  EXPECT_FALSE(splitter_->split(row(kRead, 1000, 100)).has_value());
  EXPECT_TRUE(splitter_->split(row(kRead, 1051, 100)).has_value());
  EXPECT_TRUE(splitter_->split(row(kRead, 900, 100)).has_value());
}

TEST(DeviceNumber, ConvertsInBothDirections) {
  for (const uint32_t device : {254u << 20, 259u << 20 | 300, 8u << 20 | 17}) {
    EXPECT_EQ(kernel_device(static_cast<uint64_t>(stat_device(device))), device);
  }
}

}  // namespace
}  // namespace mlrun::trace
