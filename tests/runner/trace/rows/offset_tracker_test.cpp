// SPDX-License-Identifier: Apache-2.0
// Compares derived file offsets with the kernel's behaviour.
#include <fcntl.h>

#include <set>

#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

namespace func = events::func;
using testing::DescriptorCall;
using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using Numbers = testing::TraceFolder::Numbers;
using Texts = std::vector<std::string>;

constexpr uint64_t kMicrosecond = 1000;

// Two processes with a thread each (channels 1 and 2) and one more thread of the first (3). Times in microseconds.
class Offsets : public ::testing::Test {
 protected:
  Offsets() {
    spool_.add_anchor(0);
    spool_.add_anchor(1'000'000'000);
    spool_.add_channel({.serial = 1});
    spool_.add_channel({.serial = 2, .pid = 200, .tid = 200, .process = 2, .start_ticks = 600});
    spool_.add_channel({.serial = 3, .tid = 101});
  }

  void open(uint64_t at, uint64_t flags = O_RDWR, uint32_t number = 1, uint32_t origin = MLRUN_ORIGIN_OPENED) {
    const uint64_t path = records_[0].add_string("/none/file");
    records_[0].add(testing::OpenFileRecord{.number = number, .inode = 10, .origin = origin, .path = path});
    records_[0].add(testing::PathCall{.start = ticks_at(at * kMicrosecond),
                                      .duration = ticks_at(kMicrosecond),
                                      .w3 = flags,
                                      .path = path,
                                      .open_file = number});
  }
  // A call of a channel on open file 1.
  void call(uint64_t channel, uint16_t function, uint64_t at, int64_t result, uint64_t lasts = 2, uint64_t w3 = 0,
            uint64_t arg2 = 0) {
    records_[channel - 1].add(DescriptorCall{.func = function,
                                             .start = ticks_at(at * kMicrosecond),
                                             .duration = ticks_at(lasts * kMicrosecond),
                                             .requested = w3,
                                             .result = result,
                                             .open_file = 1,
                                             .arg2 = arg2});
  }
  // Stream: a transfer, or a seek of libc's own.
  void stream_call(uint16_t function, uint64_t at, int64_t result, uint32_t flags = 0, uint64_t w3 = 0,
                   uint64_t offset = MLRUN_NO_OFFSET, uint64_t arg2 = 1) {
    records_[0].add(DescriptorCall{.func = function,
                                   .start = ticks_at(at * kMicrosecond),
                                   .duration = 10,
                                   .requested = w3,
                                   .result = result,
                                   .offset = offset,
                                   .open_file = 1,
                                   .flags = MLRUN_CALL_STDIO | flags,
                                   .arg2 = arg2});
  }
  void write_at(uint16_t function, uint64_t at, uint64_t offset, uint64_t flags = 0) {
    records_[0].add(DescriptorCall{.func = function,
                                   .start = ticks_at(at * kMicrosecond),
                                   .duration = 10,
                                   .result = 100,
                                   .offset = offset,
                                   .open_file = 1,
                                   .arg2 = flags});
  }
  void lose_records(uint64_t channel, uint64_t at) {
    flush();
    spool_.pass_at(at * kMicrosecond);
    spool_.add_data(channel, records_[channel - 1], 7);
  }
  void flush() {
    for (uint64_t channel = 1; channel <= 3; ++channel) {
      if (records_[channel - 1].bytes() != 0) spool_.add_data(channel, records_[channel - 1]);
    }
  }
  // Offsets of reads and writes, in order of their beginning.
  Numbers offsets() {
    flush();
    const auto merged = folder_.merge(spool_);
    EXPECT_TRUE(merged) << merged.error().text;
    const Texts functions = folder_.texts("call", "func");
    const Numbers all = folder_.numbers("call", "offset");
    Numbers found;
    for (size_t i = 0; i < functions.size(); ++i) {
      static const std::set<std::string> kTransfers = {"read",     "write", "pread",  "pwrite",
                                                       "pwritev2", "fread", "fwrite", "fflush"};
      if (kTransfers.contains(functions[i])) found.push_back(all[i]);
    }
    return found;
  }

  SpoolWriter spool_;
  RecordBuffer records_[3];
  testing::TraceFolder folder_;
};

TEST_F(Offsets, FollowReadsWritesAndSeeks) {
  open(0);
  call(1, func::k_read, 10, 100);
  call(1, func::k_write, 20, 50);
  call(1, func::k_read, 30, -EINTR);
  call(1, func::k_lseek, 40, 4096, 2, 4096, SEEK_SET);
  call(1, func::k_read, 50, 10);
  call(1, func::k_read, 60, 0);
  EXPECT_EQ(offsets(), Numbers({0, 100, 150, 4096, 4106}));
  EXPECT_EQ(folder_.texts("call", "offset_source"),
            Texts({"none", "derived", "derived", "derived", "argument", "derived", "derived"}));
}

TEST_F(Offsets, AreLeftToTheArgumentWhereThereIsOne) {
  open(0);
  records_[0].add(DescriptorCall{
      .func = func::k_pread, .start = ticks_at(10'000), .duration = 10, .result = 100, .offset = 777, .open_file = 1});
  call(1, func::k_read, 20, 100);
  EXPECT_EQ(offsets(), Numbers({777, 0}));
  EXPECT_EQ(folder_.texts("call", "offset_source"), Texts({"none", "argument", "derived"}));
}

TEST_F(Offsets, AreUnknownWhereWritesAreAppended) {
  open(0, O_WRONLY | O_APPEND);
  call(1, func::k_write, 10, 100);
  call(1, func::k_lseek, 20, 0);
  call(1, func::k_read, 30, 100);
  EXPECT_EQ(offsets(), Numbers({std::nullopt, 0}));
}

TEST_F(Offsets, AreUnknownFromFcntlThatTurnsAppendingOn) {
  open(0);
  call(1, func::k_write, 10, 100);
  call(1, func::k_fcntl, 20, 0, 2, F_SETFL, O_APPEND);
  call(1, func::k_write, 30, 100);
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt}));
}

TEST_F(Offsets, AreUnknownOnceASecondProcessUsesTheDescription) {
  open(0);
  call(1, func::k_read, 10, 100);
  call(2, func::k_read, 20, 100);
  call(1, func::k_read, 30, 100);
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt, std::nullopt}));
  EXPECT_EQ(folder_.texts("call", "offset_source"), Texts({"none", "derived", "unknown", "unknown"}));
}

TEST_F(Offsets, StayKnownWhenAChildOnlyClosesItsCopy) {
  open(0);
  call(1, func::k_read, 10, 100);
  call(2, func::k_close, 20, 0);
  call(1, func::k_read, 30, 100);
  EXPECT_EQ(offsets(), Numbers({0, 100}));
}

TEST_F(Offsets, OfOverlappingCallsAreUnknownButThePositionBehindThemIsNot) {
  open(0);
  call(1, func::k_read, 10, 100);
  call(1, func::k_read, 20, 100, 5);
  call(3, func::k_read, 22, 100, 20);
  call(1, func::k_read, 30, 100, 5);
  call(1, func::k_read, 60, 100);
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt, std::nullopt, std::nullopt, 400}));
}

TEST_F(Offsets, AreUnknownBehindASeekThatOverlappedARead) {
  open(0);
  call(1, func::k_read, 10, 100, 10);
  call(3, func::k_lseek, 12, 5000);
  call(1, func::k_read, 30, 100);
  call(1, func::k_lseek, 40, 7000);
  call(1, func::k_read, 50, 100);
  EXPECT_EQ(offsets(), Numbers({std::nullopt, std::nullopt, 7000}));
}

TEST_F(Offsets, AreUnknownAfterRecordsWereLostUntilASeek) {
  open(0);
  call(1, func::k_read, 10, 100);
  lose_records(3, 20);
  call(1, func::k_read, 30, 100);
  call(1, func::k_lseek, 40, 300);
  call(1, func::k_read, 50, 100);
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt, 300}));
}

TEST_F(Offsets, AreNotTouchedByLossesOfAnotherProcess) {
  open(0);
  call(1, func::k_read, 10, 100);
  lose_records(2, 20);
  call(1, func::k_read, 30, 100);
  EXPECT_EQ(offsets(), Numbers({0, 100}));
}

TEST_F(Offsets, AreUnknownForAnInheritedDescriptor) {
  open(0, O_RDWR, 1, MLRUN_ORIGIN_FOUND);
  call(1, func::k_read, 10, 100);
  EXPECT_EQ(offsets(), Numbers({std::nullopt}));
}

TEST_F(Offsets, OutliveTheCloseOfADuplicate) {
  open(0);
  call(1, func::k_dup, 10, 4);
  call(1, func::k_close, 20, 0);
  call(1, func::k_read, 30, 100);
  call(1, func::k_close, 40, 0);
  call(1, func::k_read, 50, 100);
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt})) << "a read behind the last close is of something else";
}

TEST_F(Offsets, ContinueFromThePositionThatStdioReports) {
  open(0);
  records_[0].add(DescriptorCall{.func = func::k_fread,
                                 .start = ticks_at(10'000),
                                 .duration = 10,
                                 .result = 4096,
                                 .offset = 8192,
                                 .open_file = 1,
                                 .flags = MLRUN_CALL_STDIO,
                                 .arg2 = 12});
  call(1, func::k_read, 20, 100);
  EXPECT_EQ(offsets(), Numbers({8192, 12288}));
  EXPECT_EQ(folder_.numbers("call", "served_calls"), Numbers({1, 12, 1}));
}

TEST_F(Offsets, OfAppendingWritesAreUnknownThoughAnOffsetIsGiven) {
  open(0, O_RDWR | O_APPEND);
  write_at(func::k_pwrite, 10, 777);
  call(1, func::k_read, 20, 100);
  write_at(func::k_pwritev2, 30, 777, 0x20);  // RWF_NOAPPEND
  call(1, func::k_fcntl, 40, 0, 2, F_SETFL, 0);
  write_at(func::k_pwrite, 50, 888);
  write_at(func::k_pwritev2, 60, 999, 0x10);  // RWF_APPEND
  call(1, func::k_read, 70, 100);
  EXPECT_EQ(offsets(), Numbers({std::nullopt, 0, 777, 888, std::nullopt, 100}));
}

// fcntl turned appending on, which libc does not know.
TEST_F(Offsets, OfAppendingWritesAreUnknownThoughStdioReportsOne) {
  const auto flush_at = [&](uint64_t at, uint64_t offset) {
    records_[0].add(DescriptorCall{.func = func::k_fwrite,
                                   .start = ticks_at(at * kMicrosecond),
                                   .duration = 10,
                                   .result = 100,
                                   .offset = offset,
                                   .open_file = 1,
                                   .flags = MLRUN_CALL_STDIO,
                                   .arg2 = 1});
  };
  open(0);
  flush_at(10, 4000);
  call(1, func::k_fcntl, 20, 0, 2, F_SETFL, O_APPEND);
  flush_at(30, 4000);
  call(1, func::k_read, 40, 10);
  call(1, func::k_fcntl, 50, 0, 2, F_SETFL, 0);
  flush_at(60, 4000);
  EXPECT_EQ(offsets(), Numbers({4000, std::nullopt, std::nullopt, 4000}));
}

// ftell then goes to the end of the file, and has no record.
TEST_F(Offsets, AreUnknownForAnAppendingStreamOnceFcntlTurnsAppendingOff) {
  open(0, O_RDWR | O_APPEND);
  call(1, func::k_fdopen, 10, 3);
  stream_call(func::k_fseek, 20, 0, 0, 0, 4096, SEEK_SET);
  stream_call(func::k_fread, 30, 100);
  call(1, func::k_fcntl, 40, 0, 2, F_SETFL, 0);
  stream_call(func::k_fseek, 50, 0, 0, 0, 4096, SEEK_SET);
  stream_call(func::k_fflush, 60, 10);
  EXPECT_EQ(offsets(), Numbers({4096, std::nullopt}));
}

TEST_F(Offsets, OfWritesAreUnknownOnceAStreamOfAnotherProcessAppends) {
  open(0);
  write_at(func::k_pwrite, 10, 777);
  call(2, func::k_fdopen, 20, 3, 0, 0, O_APPEND);
  write_at(func::k_pwrite, 30, 777);
  EXPECT_EQ(offsets(), Numbers({777, std::nullopt}));
}

TEST_F(Offsets, FollowWhatLibcSeeksByItself) {
  open(0);
  stream_call(func::k_fread, 10, 4096);
  stream_call(func::k_fseek, 20, 0, 0, static_cast<uint64_t>(-4000), MLRUN_NO_OFFSET, SEEK_CUR);
  stream_call(func::k_fflush, 30, 10);
  stream_call(func::k_fseek, 40, 0, 0, 5000, 4096, SEEK_SET);
  stream_call(func::k_fread, 50, 4096);
  EXPECT_EQ(offsets(), Numbers({0, 96, 4096}));
}

TEST_F(Offsets, AreUnknownAfterAStreamMayHaveMovedUnseen) {
  open(0);
  stream_call(func::k_fread, 10, 4096);
  stream_call(func::k_fread, 20, 4096, MLRUN_CALL_UNSEEN);
  stream_call(func::k_fread, 30, 4096);
  stream_call(func::k_fseek, 40, 0, 0, 0, 0, SEEK_SET);
  stream_call(func::k_fread, 50, 4096);
  call(1, func::k_fdopen, 60, 3);
  call(1, func::k_read, 70, 100);  // past a stream that may have moved the file
  EXPECT_EQ(offsets(), Numbers({0, std::nullopt, std::nullopt, 0, std::nullopt}));
}

}  // namespace
}  // namespace mlrun
