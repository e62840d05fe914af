// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/sum_cursor.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

// An entry of one record of two units and three buckets.
std::vector<uint64_t> entry() {
  mlrun_sum sum{};
  sum.record_units = 2;
  sum.time_buckets = 2;
  sum.size_buckets = 1;
  sum.calls = 42;
  const uint64_t record[] = {mlrun_word0(1, 2, MLRUN_MALLOC, 0), 7, 0, 0};
  const mlrun_sum_bucket buckets[] = {{1, 40, 0}, {2, 2, 0}, {3, 42, 4200}};
  sum.bytes = sizeof sum + sizeof record + sizeof buckets;
  std::vector<uint64_t> words(sum.bytes / 8);
  std::memcpy(words.data(), &sum, sizeof sum);
  std::memcpy(reinterpret_cast<char*>(words.data()) + sizeof sum, record, sizeof record);
  std::memcpy(reinterpret_cast<char*>(words.data()) + sizeof sum + sizeof record, buckets, sizeof buckets);
  return words;
}

SpoolFrame frame_of(const std::vector<uint64_t>& words) {
  SpoolFrame frame;
  frame.header.payload_bytes = static_cast<__u32>(words.size() * 8);
  frame.payload = words.data();
  return frame;
}

TEST(SumCursor, ReadsOneEntryBehindTheOther) {
  std::vector<uint64_t> words = entry();
  const std::vector<uint64_t> second = entry();
  words.insert(words.end(), second.begin(), second.end());
  const SpoolFrame frame = frame_of(words);
  SumCursor sums(frame);
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(sums.next());
    EXPECT_EQ(sums.sum().calls, 42u);
    ASSERT_NE(sums.record(), nullptr);
    EXPECT_EQ(sums.record()->kind, MLRUN_MALLOC);
    EXPECT_EQ(sums.bucket(1).calls, 2u);
    EXPECT_EQ(sums.bucket(2).bytes, 4200u);
  }
  EXPECT_FALSE(sums.next());
  EXPECT_EQ(sums.damaged_bytes(), 0u);
}

TEST(SumCursor, GivesUpAFrameThatIsCutShort) {
  std::vector<uint64_t> words = entry();
  words.pop_back();
  const SpoolFrame frame = frame_of(words);
  SumCursor sums(frame);
  EXPECT_FALSE(sums.next());
  EXPECT_EQ(sums.damaged_bytes(), words.size() * 8);
  EXPECT_FALSE(sums.next());
}

TEST(SumCursor, StaysWithinAFrameOfRandomBytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; round++) {
    std::vector<uint64_t> words = entry();
    for (int i = 0; i < 3; i++) {
      auto* bytes = reinterpret_cast<unsigned char*>(words.data());
      bytes[random() % (words.size() * 8)] = static_cast<unsigned char>(random());
    }
    words.resize(1 + random() % words.size());
    words.shrink_to_fit();
    const SpoolFrame frame = frame_of(words);
    SumCursor sums(frame);
    int entries = 0;
    while (sums.next()) {
      entries++;
      const uint32_t buckets = uint32_t{sums.sum().time_buckets} + sums.sum().size_buckets;
      for (uint32_t i = 0; i < buckets; i++) (void)sums.bucket(i);
    }
    EXPECT_LE(entries, 2);
  }
}

}  // namespace
}  // namespace mlrun::trace
