// SPDX-License-Identifier: Apache-2.0
// Frames, chunks, limits of the spool.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "runner/collect/ring_memory.h"
#include "runner/collect/sample_frames.h"
#include "runner/collect/shared_word.h"
#include "runner/collect/spool_tail.h"
#include "runner/events/page_sample.h"
#include "runner/util/file_io.h"
#include "tests/runner/collect/session.h"

namespace mlrun::collect::testing {
namespace {

// A spool with a ring of its own.
class SpoolOnly {
 public:
  explicit SpoolOnly(uint64_t max_bytes = uint64_t{1} << 40)
      : path(spool_path(folder.path)),
        spool({ring.data(), &head, &tail}, std::move(*SpoolFile::create(path)), max_bytes, {}) {}

  bool put(uint32_t bytes, uint64_t seq) {
    mlrun_frame frame{};
    frame.type = MLRUN_FRAME_DATA;
    frame.channel = 7;
    frame.seq = seq;
    const std::string payload(bytes, static_cast<char>('a' + seq % 26));
    return spool.put_data(frame, payload.data(), bytes);
  }

  Folder folder;
  std::string path;
  util::Mapping ring = make_ring();
  __u64 head = 0, tail = 0;
  Spool spool;
};

TEST(Spool, EveryChunkBeginsWithAnIndexAndNoFrameCrossesItsEnd) {
  SpoolOnly one;
  uint64_t seq = 0;
  for (; one.spool.bytes() < 2 * MLRUN_SPOOL_CHUNK_BYTES + 1000; seq++) ASSERT_TRUE(one.put(65000 + seq % 400, seq));
  ASSERT_TRUE(one.spool.close());
  const SpoolFrames read = read_spool(one.path);  // checks both
  ASSERT_EQ(read.error, "");
  const auto indexes = read.of_type(MLRUN_FRAME_INDEX);
  ASSERT_EQ(indexes.size(), 3u);
  for (uint64_t chunk = 0; chunk < 3; chunk++) {
    EXPECT_EQ(indexes[chunk].offset, chunk * MLRUN_SPOOL_CHUNK_BYTES);
    EXPECT_EQ(indexes[chunk].as<mlrun_frame_index>().chunk, chunk);
  }
  EXPECT_EQ(read.of_type(MLRUN_FRAME_DATA).size(), seq);
  EXPECT_GE(read.of_type(MLRUN_FRAME_PAD).size(), 1u);
}

TEST(Spool, AChunkThatIsFilledToItsLastByteNeedsNoPad) {
  SpoolOnly one;
  uint64_t seq = 0;
  ASSERT_TRUE(one.put(64, seq++));
  while (MLRUN_SPOOL_CHUNK_BYTES - one.spool.bytes() > 200 * 1024) ASSERT_TRUE(one.put(65536 - 64, seq++));
  while (one.spool.bytes() < MLRUN_SPOOL_CHUNK_BYTES) {
    const uint64_t rest = MLRUN_SPOOL_CHUNK_BYTES - one.spool.bytes();
    ASSERT_TRUE(one.put(static_cast<uint32_t>(std::min<uint64_t>(rest, 65536) - 64), seq++));
  }
  ASSERT_TRUE(one.put(64, seq++));
  ASSERT_TRUE(one.spool.close());
  const SpoolFrames read = read_spool(one.path);
  ASSERT_EQ(read.error, "");
  EXPECT_TRUE(read.of_type(MLRUN_FRAME_PAD).empty());
  EXPECT_EQ(read.of_type(MLRUN_FRAME_INDEX).size(), 2u);
}

TEST(Spool, StaysWithinItsLimitAndRefusesDataFromThenOn) {
  SpoolOnly one(1 << 20);
  uint64_t seq = 0;
  while (one.put(1000, seq)) seq++;
  EXPECT_TRUE(one.spool.full());
  EXPECT_EQ(one.spool.stop_error(), 0);
  EXPECT_LE(one.spool.bytes(), 1u << 20);
  EXPECT_FALSE(one.put(8, seq));
  const mlrun_frame_gap gap{MLRUN_GAP_SPOOL_FULL, 0, 1, 1, 0};
  mlrun_frame frame{};
  frame.type = MLRUN_FRAME_GAP;
  one.spool.put_report(frame, &gap, sizeof gap);
  ASSERT_TRUE(one.spool.close());
  const SpoolFrames read = read_spool(one.path);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.of_type(MLRUN_FRAME_DATA).size(), seq);
  EXPECT_EQ(read.gaps(MLRUN_GAP_SPOOL_FULL).size(), 1u);
}

TEST(Spool, ADiskThatIsFullLosesNothingThatIsStaged) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  SpoolOnly one;
  const rlimit small{4 << 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  uint64_t seq = 0;
  while (one.put(60000, seq)) seq++;
  EXPECT_TRUE(one.spool.full());
  EXPECT_FALSE(one.spool.close());
  ::setrlimit(RLIMIT_FSIZE, &before);  // room again
  ASSERT_TRUE(one.spool.close());
  EXPECT_EQ(one.spool.stop_error(), EFBIG) << "the reason for the stop stays";
  const SpoolFrames read = read_spool(one.path);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.of_type(MLRUN_FRAME_DATA).size(), seq);
  EXPECT_GT(one.spool.bytes(), 4u << 20);
}

TEST(Spool, RowsOfASamplerStayWithinTheLimitAndStopTheRecording) {
  SpoolOnly one(1 << 20);
  SampleFrames frames(one.spool, MLRUN_CLOCK_MONOTONIC);
  const std::vector<mlrun_page_sample> rows(1024);
  for (int i = 0; i < 100; i++) frames.put_rows(MLRUN_SAMPLE_PAGE, rows);
  EXPECT_TRUE(one.spool.full());
  EXPECT_LE(one.spool.bytes(), 1u << 20);
  EXPECT_FALSE(one.put(8, 0));
  EXPECT_EQ(one.spool.left_out(), 0u);
  ASSERT_TRUE(one.spool.close());
  const SpoolFrames read = read_spool(one.path);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.of_type(MLRUN_FRAME_SAMPLES).size(), 31u);
}

TEST(Spool, RowsOfASamplerLeaveRoomForReportsWhenTheDiskIsFull) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  SpoolOnly one;
  const rlimit small{1 << 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  SampleFrames frames(one.spool, MLRUN_CLOCK_MONOTONIC);
  const std::vector<mlrun_page_sample> rows(1024);
  for (int i = 0; i < 200; i++) frames.put_rows(MLRUN_SAMPLE_PAGE, rows);
  const mlrun_frame_gap gap{MLRUN_GAP_DISK_FULL, 0, 1, 1, 0};
  frames.put(MLRUN_FRAME_GAP, &gap, sizeof gap);
  ::setrlimit(RLIMIT_FSIZE, &before);  // room again
  EXPECT_TRUE(one.spool.full());
  EXPECT_EQ(one.spool.left_out(), 0u);
  ASSERT_TRUE(one.spool.close());
  EXPECT_EQ(read_spool(one.path).gaps(MLRUN_GAP_DISK_FULL).size(), 1u);
}

TEST(Spool, AFullSpoolStopsTheRecordingAndReportsIt) {
  Session session(kSmallBuffer, 4 << 20);
  RecordingThread thread(session.arena());
  uint64_t number = 0;
  while (load(session.arena().control().state) == MLRUN_RUN && number < 10'000'000) {
    if (thread.record(number)) {
      number++;
    } else {
      session.collector().pass();
    }
  }
  EXPECT_EQ(load(session.arena().control().state), uint32_t{MLRUN_STOP});
  const SpoolFrames spool = session.finish();
  ASSERT_EQ(spool.error, "");
  EXPECT_EQ(spool.gaps(MLRUN_GAP_SPOOL_FULL).size(), 1u);
  const auto numbers = spool.numbers().at(thread.serial());
  EXPECT_GT(numbers.size(), 100000u);
  EXPECT_EQ(numbers, count_up(0, numbers.size()));
}

TEST(Spool, IsNeverOverwritten) {
  const Folder folder;
  ASSERT_TRUE(SpoolFile::create(spool_path(folder.path)));
  EXPECT_FALSE(SpoolFile::create(spool_path(folder.path)));
}

TEST(Spool, IsLockedWhileItIsWritten) {
  SpoolOnly one;
  EXPECT_FALSE(SpoolFile::open(one.path));
}

TEST(SpoolTail, EndsBehindTheLastWholeFrame) {
  SpoolOnly one;
  for (uint64_t seq = 0; seq < 100; seq++) ASSERT_TRUE(one.put(5000, seq));
  ASSERT_TRUE(one.spool.close());
  const uint64_t whole = one.spool.bytes();
  EXPECT_EQ(read_spool_tail(one.path, nullptr, whole, whole).end, whole);
  EXPECT_EQ(read_spool_tail(one.path, nullptr, whole, whole).last_frame.seq, 99u);
  // Cut in the middle of the last frame.
  const SpoolTail cut = read_spool_tail(one.path, nullptr, whole - 100, whole - 100);
  EXPECT_EQ(cut.last_frame.seq, 98u);
  EXPECT_EQ(cut.end, whole - 5064 / 64 * 64 - 64);
}

TEST(SpoolTail, OfAnEmptyOrForeignFileIsZero) {
  const Folder folder;
  const std::string path = folder.path + "/x";
  ASSERT_TRUE(util::write_atomically(path, std::string(100000, 'x'), 0600));
  EXPECT_EQ(read_spool_tail(path, nullptr, 100000, 100000).end, 0u);
  EXPECT_EQ(read_spool_tail(path, nullptr, 0, 0).end, 0u);
}

}  // namespace
}  // namespace mlrun::collect::testing
