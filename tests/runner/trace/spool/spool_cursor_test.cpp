// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/spool_cursor.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "runner/util/crc32c.h"
#include "runner/util/unique_fd.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::trace {
namespace {

using testing::RecordBuffer;
using testing::SpoolWriter;

struct Walk {
  std::vector<uint64_t> seqs;  // of the frames of channel 1
  uint64_t damaged_bytes = 0;
  std::string error;
};

Walk walk(const SpoolWriter& spool, uint64_t begin = 0, uint64_t end = UINT64_MAX) {
  const testing::TraceFolder folder;
  spool.write(folder.path());
  const util::UniqueFd fd(::open((folder.path() + "/spool.bin").c_str(), O_RDONLY | O_CLOEXEC));
  SpoolCursor cursor(fd.get(), begin, end, const_cast<SpoolWriter&>(spool).bytes().size());
  Walk walk;
  SpoolFrame frame;
  for (;;) {
    const auto more = cursor.next(frame);
    if (!more) walk.error = more.error().text;
    if (!more || !*more) break;
    if (frame.header.channel == 1) walk.seqs.push_back(frame.header.seq);
  }
  walk.damaged_bytes = cursor.damaged_bytes();
  return walk;
}

// Frames of about `bytes` bytes with sequence numbers from 0 on.
SpoolWriter spool_of(size_t frames, size_t records_per_frame, std::vector<size_t>* places = nullptr) {
  SpoolWriter spool;
  for (size_t i = 0; i < frames; ++i) {
    RecordBuffer records;
    for (size_t j = 0; j < records_per_frame; ++j) records.add(testing::Allocation{.start = i * 1000 + j});
    if (places) places->push_back(spool.bytes().size());
    spool.add_data(1, records);
  }
  return spool;
}

std::vector<uint64_t> numbers(uint64_t from, uint64_t to) {
  std::vector<uint64_t> all;
  for (uint64_t i = from; i < to; ++i) all.push_back(i);
  return all;
}

TEST(SpoolCursor, WalksAcrossChunksAndItsOwnBuffer) {
  const SpoolWriter spool = spool_of(1200, 2000);
  const Walk all = walk(spool);
  EXPECT_EQ(all.seqs, numbers(0, 1200));
  EXPECT_EQ(all.damaged_bytes, 0u);
}

TEST(SpoolCursor, TakesTheFramesThatBeginInItsRange) {
  std::vector<size_t> places;
  const SpoolWriter spool = spool_of(10, 100, &places);
  EXPECT_EQ(walk(spool, places[3], places[6] + MLRUN_FRAME_ALIGN).seqs, numbers(3, 7));
}

TEST(SpoolCursor, ContinuesAfterADamagedFrame) {
  std::vector<size_t> places;
  SpoolWriter spool = spool_of(10, 100, &places);
  spool.bytes()[places[4] + 500] ^= 1;
  const Walk damaged = walk(spool);
  EXPECT_EQ(damaged.seqs.size(), 9u);
  EXPECT_EQ(damaged.damaged_bytes, places[5] - places[4]);
}

TEST(SpoolCursor, FindsTheNextFrameAfterAnyDamagedHeader) {
  std::vector<size_t> places;
  SpoolWriter spool = spool_of(10, 100, &places);
  auto* header = reinterpret_cast<mlrun_frame*>(spool.bytes().data() + places[4]);
  header->payload_bytes = 1 << 20;
  EXPECT_EQ(walk(spool).seqs.size(), 9u);
  header->payload_bytes = UINT32_MAX;
  EXPECT_EQ(walk(spool).seqs.size(), 9u);
  header->magic = 0;
  EXPECT_EQ(walk(spool).seqs.size(), 9u);
}

TEST(SpoolCursor, EndsWhereTheFileWasCutOff) {
  std::vector<size_t> places;
  SpoolWriter spool = spool_of(10, 100, &places);
  spool.bytes().resize(places[9] + 200);
  EXPECT_EQ(walk(spool).seqs, numbers(0, 9));
  spool.bytes().resize(places[9] + 30);
  EXPECT_EQ(walk(spool).seqs, numbers(0, 9));
}

TEST(SpoolCursor, DoesNotCountZerosAsDamage) {
  SpoolWriter spool = spool_of(10, 100);
  spool.bytes().resize(spool.bytes().size() + (1 << 20));
  const Walk all = walk(spool);
  EXPECT_EQ(all.seqs, numbers(0, 10));
  EXPECT_EQ(all.damaged_bytes, 0u);
}

TEST(SpoolCursor, RefusesANewerVersion) {
  SpoolWriter spool = spool_of(1, 1);
  auto* header = reinterpret_cast<mlrun_frame*>(spool.bytes().data());
  header->version = MLRUN_SPOOL_VERSION + 1;
  header->crc32c = 0;
  header->crc32c = util::crc32c(0, spool.bytes().data(), sizeof(mlrun_frame) + header->payload_bytes);
  EXPECT_NE(walk(spool).error.find("version"), std::string::npos);
}

TEST(SpoolCursor, LimitsTheTimeOfChecksumsOfDamagedLengths) {
  SpoolWriter spool;
  mlrun_frame liar{};
  liar.magic = MLRUN_SPOOL_MAGIC;
  liar.version = MLRUN_SPOOL_VERSION;
  liar.payload_bytes = MLRUN_FRAME_PAYLOAD_MAX;
  while (spool.bytes().size() < (32 << 20)) spool.bytes().append(reinterpret_cast<const char*>(&liar), sizeof liar);
  const auto start = std::chrono::steady_clock::now();
  const Walk all = walk(spool);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(all.damaged_bytes, spool.bytes().size());
}

TEST(SpoolCursor, AFileOfFramesThatDoesNotExistHasNone) {
  const testing::TraceFolder folder;
  const auto file = open_frame_file(folder.path() + "/kept.bin");
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_EQ(file->bytes, 0u);
  SpoolFrame frame;
  EXPECT_FALSE(SpoolCursor(file->fd.get(), 0, file->bytes, file->bytes).next(frame).value());
}

TEST(SpoolCursor, AFileOfFramesThatCannotBeOpenedIsAnError) {
  const testing::TraceFolder folder;
  spool_of(1, 1).write(folder.path());
  const auto file = open_frame_file(folder.path() + "/spool.bin/kept.bin");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().text.find("cannot open"), std::string::npos) << file.error().text;
  EXPECT_GT(open_frame_file(folder.path() + "/spool.bin")->bytes, 0u);
}

}  // namespace
}  // namespace mlrun::trace
