// SPDX-License-Identifier: Apache-2.0
// Tests hostile spools: the merger must end with tables or with an error, in bounded time and memory. The random
// numbers are the same in every run.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "runner/util/crc32c.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;

using Random = std::mt19937_64;
constexpr auto kMutationTime = std::chrono::seconds(6);

// A little of everything.
SpoolWriter honest_spool() {
  SpoolWriter spool;
  for (uint64_t i = 0; i < 5; ++i) spool.add_anchor(i * 1'000'000);
  for (uint32_t channel = 1; channel <= 3; ++channel) {
    spool.add_channel({.serial = channel, .pid = 100 + channel, .tid = 100 + channel, .process = channel});
    RecordBuffer records;
    const uint64_t path = records.add_string("/data/file"), cwd = records.add_string("/home/me");
    const uint64_t relative = records.add_string(std::string(5000, 'x'));
    records.add(testing::ProcessRecord{
        .clock = 10, .pid = 100 + channel, .process = channel, .exe = path, .arguments = relative, .cwd = cwd});
    records.add(testing::OpenFileRecord{.number = channel, .inode = channel, .path = path});
    records.add(testing::OpenFileRecord{
        .number = channel + 10, .inode = 7, .path = relative, .cwd = cwd, .dirfd_file = channel});
    for (uint64_t i = 0; i < 30; ++i) {
      records.add(
          testing::DescriptorCall{.start = ticks_at(i * 1000), .duration = 100, .result = 10, .open_file = channel});
      records.add(testing::PathCall{
          .start = ticks_at(i * 1000), .path = path, .second_path = relative, .dirfd_file = 1, .cwd = cwd});
      records.add(testing::Allocation{.start = ticks_at(i * 1100)});
      records.add(testing::Allocation{.kind = MLRUN_REALLOC, .start = ticks_at(i * 1200), .duration = 5});
    }
    records.add_comm(20, 100 + channel, path);
    records.add(testing::EndRecord{30, 1, 2, 3, 4});
    spool.add_data(channel, records);
    spool.add_counters(channel, 40'000, {{48, 5, 3, 0, 0}, {4096, 2, 1, 9000, 4500}}, channel == 2, {1, 2});
    spool.add_gap(channel, MLRUN_GAP_TORN, 5, 10, 100);
  }
  spool.add_process_text(5, {{"process", 1},
                             {"pid", 101},
                             {"tid", 101},
                             {"comm", "x"},
                             {"modules", {{1, 2, 3, "/lib/x"}}},
                             {"io", {{"rchar", 1}}}});
  return spool;
}

struct FramePlace {
  size_t offset;
  size_t bytes;  // header and payload
};

std::vector<FramePlace> frames_of(const std::string& bytes) {
  std::vector<FramePlace> frames;
  for (size_t at = 0; at + sizeof(mlrun_frame) <= bytes.size();) {
    mlrun_frame header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    frames.push_back({at, sizeof header + header.payload_bytes});
    at += (frames.back().bytes + MLRUN_FRAME_ALIGN - 1) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN;
  }
  return frames;
}

void repair_checksum(std::string& bytes, const FramePlace& frame) {
  mlrun_frame header;
  std::memcpy(&header, bytes.data() + frame.offset, sizeof header);
  header.crc32c = 0;
  std::memcpy(bytes.data() + frame.offset, &header, sizeof header);
  header.crc32c = util::crc32c(0, bytes.data() + frame.offset, frame.bytes);
  std::memcpy(bytes.data() + frame.offset, &header, sizeof header);
}

uint64_t interesting(Random& random) {
  static constexpr std::array<uint64_t, 12> kValues = {
      0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1ull << 47, INT64_MAX, 1ull << 63, UINT64_MAX};
  return random() % 3 == 0 ? random() : kValues[random() % kValues.size()];
}

// Changes some words of a frame, header or payload, and makes its checksum right again.
void lie_in_a_frame(std::string& bytes, const std::vector<FramePlace>& frames, Random& random) {
  const FramePlace frame = frames[random() % frames.size()];
  for (uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
    // Magic, version and length stay: else the frame would only be skipped.
    constexpr size_t kFirstWord = 2;
    const size_t words = frame.bytes / sizeof(uint64_t);
    const size_t word = kFirstWord + random() % (words - kFirstWord);
    uint64_t value = interesting(random);
    if (random() % 2 == 0) {
      std::memcpy(&value, bytes.data() + frame.offset + word * sizeof value, sizeof value);
      value ^= uint64_t{1} << random() % 64;
    }
    std::memcpy(bytes.data() + frame.offset + word * sizeof value, &value, sizeof value);
  }
  repair_checksum(bytes, frame);
}

void copy_a_frame_over_another(std::string& bytes, const std::vector<FramePlace>& frames, Random& random) {
  const FramePlace& from = frames[random() % frames.size()];
  const FramePlace& to = frames[random() % frames.size()];
  const std::string copy = bytes.substr(from.offset, from.bytes);
  bytes.replace(to.offset, std::min(copy.size(), bytes.size() - to.offset), copy, 0, bytes.size() - to.offset);
}

void scribble(std::string& bytes, const std::vector<FramePlace>&, Random& random) {
  for (uint64_t changes = 1 + random() % 50; changes != 0; --changes)
    bytes[random() % bytes.size()] = static_cast<char>(random());
}

void cut(std::string& bytes, const std::vector<FramePlace>&, Random& random) { bytes.resize(random() % bytes.size()); }

void drop_a_frame(std::string& bytes, const std::vector<FramePlace>& frames, Random& random) {
  const FramePlace& frame = frames[random() % frames.size()];
  std::memset(bytes.data() + frame.offset, 0, frame.bytes);
}

TEST(HostileSpool, MutatedSpoolsEndInTablesOrInAnError) {
  using Mutation = void (*)(std::string&, const std::vector<FramePlace>&, Random&);
  constexpr std::array<Mutation, 8> kMutations = {
      lie_in_a_frame, lie_in_a_frame, lie_in_a_frame, lie_in_a_frame, copy_a_frame_over_another, scribble, cut,
      drop_a_frame};
  const SpoolWriter honest = honest_spool();
  const std::vector<FramePlace> frames = frames_of(SpoolWriter(honest).bytes());
  const testing::TraceFolder folder;
  ASSERT_TRUE(folder.merge(honest));
  Random random(20261121);
  uint64_t merged = 0, refused = 0;
  for (const auto end = std::chrono::steady_clock::now() + kMutationTime; std::chrono::steady_clock::now() < end;) {
    SpoolWriter spool = honest;
    for (uint64_t i = 1 + random() % 3; i != 0 && !spool.bytes().empty(); --i) {
      const Mutation mutation = kMutations[random() % kMutations.size()];
      if (spool.bytes().size() == SpoolWriter(honest).bytes().size()) mutation(spool.bytes(), frames, random);
    }
    ++(folder.merge(spool, 1 + random() % 3) ? merged : refused);
  }
  EXPECT_GT(merged, 0u);
  RecordProperty("merged", std::to_string(merged));
  RecordProperty("refused", std::to_string(refused));
}

// Runs a merge that must end within some seconds and some mebibytes more than before.
void expect_bounded(const SpoolWriter& spool, [[maybe_unused]] long mebibytes) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  const testing::TraceFolder folder;
  const auto result = folder.merge(spool);
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
#ifndef __SANITIZE_THREAD__  // which keeps several words for each one
  EXPECT_LT((after.ru_maxrss - before.ru_maxrss) / 1024, mebibytes);
#endif
}

TEST(HostileSpool, OpenFileNumbersFarApartTakeNoTableOfAllNumbers) {
  SpoolWriter spool = honest_spool();
  RecordBuffer records;
  for (uint32_t i = 0; i < 200'000; ++i) {
    records.add(testing::OpenFileRecord{.number = i * 20'000 + 77, .inode = i % 3, .path = 0});
    if (records.bytes() > 60'000) spool.add_data(1, records);
  }
  spool.add_data(1, records);
  expect_bounded(spool, 300);
}

TEST(HostileSpool, RowsOfRandomTimesAreMergedInBoundedTime) {
  SpoolWriter spool = honest_spool();
  RecordBuffer records;
  Random random(5);
  for (uint32_t i = 0; i < 1'000'000; ++i) {
    records.add(testing::Allocation{.start = random()});
    if (records.bytes() > 60'000) spool.add_data(1 + i % 3, records);
  }
  spool.add_data(1, records);
  expect_bounded(spool, 600);
}

TEST(HostileSpool, FoldersOpenedRelativeToOneAnotherInACircleAreGivenUp) {
  SpoolWriter spool = honest_spool();
  RecordBuffer records;
  const uint64_t name = records.add_string("x");
  for (uint32_t i = 0; i < 100'000; ++i) {
    records.add(
        testing::OpenFileRecord{.number = 1000 + i, .inode = i, .path = name, .dirfd_file = 1000 + (i + 1) % 100'000});
    if (records.bytes() > 60'000) spool.add_data(1, records);
  }
  spool.add_data(1, records);
  expect_bounded(spool, 400);
}

TEST(HostileSpool, ManyChannelsWithOneFrameEachTakeBoundedTimeAndMemory) {
  SpoolWriter spool = honest_spool();
  for (uint64_t i = 0; i < 200'000; ++i) {
    RecordBuffer records;
    records.add(testing::Allocation{.start = ticks_at(i)});
    spool.add_data(1'000'000 + i * 0x9e3779b97f4a7c15u, records);
  }
  expect_bounded(spool, 500);
}

}  // namespace
}  // namespace mlrun
