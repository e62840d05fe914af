// SPDX-License-Identifier: Apache-2.0
// Tests what is read from /proc/meminfo and how often it is recorded.
#include "kprobes/proc/memory_recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kprobes/rings/kernel_spool.h"
#include "runner/decode/kernel_view.h"
#include "runner/trace/spool/spool_cursor.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(MemoryIn, ReadsBuffersAndThePageCacheAndNotWhatSwapHolds) {
  const auto seen = memory_in(
      "MemTotal:        8000000 kB\nMemFree:  1 kB\nBuffers:           21100 kB\nSwapCached:            7 kB\n"
      "Cached:          1234567 kB\n");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->buffers_bytes, 21100U * 1024);
  EXPECT_EQ(seen->cached_bytes, 1234567U * 1024);
}

TEST(MemoryIn, IsNothingWhereALineIsMissingOrHasNoNumber) {
  EXPECT_FALSE(memory_in(""));
  EXPECT_FALSE(memory_in("Buffers: 1 kB\nSwapCached: 2 kB\n"));
  EXPECT_FALSE(memory_in("Buffers: 1 kB\nCached:"));
  EXPECT_FALSE(memory_in("Buffers: x kB\nCached: 3 kB\n"));
}

TEST(MemoryRecorder, RecordsOnceASecondAndOnRequest) {
  std::string path = testing::TempDir() + "mlrun-memory-XXXXXX";
  const util::UniqueFd file(::mkstemp(path.data()));
  KernelSpool spool(file.get());
  MemoryRecorder recorder(spool);
  for (const uint64_t ns : {5 * kSecond, 5 * kSecond + kSecond / 2, 6 * kSecond + 1}) recorder.sample(ns);
  recorder.record(6 * kSecond + 2);
  spool.flush();
  std::vector<uint64_t> times;
  trace::SpoolCursor cursor(file.get(), 0, spool.bytes(), spool.bytes());
  trace::SpoolFrame frame;
  for (auto more = cursor.next(frame); more && *more; more = cursor.next(frame)) {
    decode::KernelReader reader(frame.payload, frame.header.payload_bytes);
    mlrun_memory_seen seen{};
    while (reader.next()) {
      ASSERT_TRUE(reader.head().kind == MLRUN_KERNEL_MEMORY && reader.read(seen));
      times.push_back(seen.head.time_ns);
      EXPECT_GT(seen.cached_bytes, 0U);
    }
  }
  ::unlink(path.c_str());
  EXPECT_EQ(times, (std::vector<uint64_t>{5 * kSecond, 6 * kSecond + 1, 6 * kSecond + 2}));
}

}  // namespace
}  // namespace mlrun::probes
