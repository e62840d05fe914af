// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/byte_coverage.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

TEST(ByteCoverageTest, CountsAFileReadInPiecesOnce) {
  CoverageBudget budget;
  ByteCoverage coverage;
  for (int64_t at = 0; at < 1000; at += 100) EXPECT_TRUE(coverage.add(at, at + 100, budget));
  EXPECT_EQ(coverage.distinct_bytes(), 1000);
  EXPECT_EQ(coverage.bytes_added(), 1000);
  EXPECT_TRUE(coverage.add(0, 1000, budget));
  EXPECT_EQ(coverage.distinct_bytes(), 1000);
  EXPECT_EQ(coverage.bytes_added(), 2000);
}

TEST(ByteCoverageTest, AgreesWithAByteMapWhileExtentsAreFew) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    CoverageBudget budget;
    ByteCoverage coverage;
    std::vector<bool> bytes(4000);
    for (int i = 0; i < 40; ++i) {
      const int64_t begin = random() % 3900, end = begin + 1 + random() % 99;
      ASSERT_TRUE(coverage.add(begin, end, budget));
      for (int64_t at = begin; at < end; ++at) bytes[size_t(at)] = true;
      ASSERT_EQ(coverage.distinct_bytes(), std::count(bytes.begin(), bytes.end(), true));
      ASSERT_FALSE(coverage.by_page());
    }
  }
}

TEST(ByteCoverageTest, TurnsToPagesWhenScattered) {
  CoverageBudget budget;
  ByteCoverage coverage;
  constexpr int64_t kFar = int64_t{1} << 36;  // 64 GiB
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_TRUE(coverage.add(i * (kFar / 1000) / 4096 * 4096, i * (kFar / 1000) / 4096 * 4096 + 4096, budget));
  EXPECT_TRUE(coverage.by_page());
  EXPECT_EQ(coverage.distinct_bytes(), 1000 * 4096);
  ASSERT_TRUE(coverage.add(0, 4096, budget));
  EXPECT_EQ(coverage.distinct_bytes(), 1000 * 4096);
  EXPECT_EQ(coverage.bytes_added(), 1001 * 4096);
}

TEST(ByteCoverageTest, CountsPagesAcrossWordsAndChunks) {
  CoverageBudget budget;
  ByteCoverage coverage;
  for (int64_t i = 0; i < 100; ++i) ASSERT_TRUE(coverage.add(i * 8192, i * 8192 + 4096, budget));
  ASSERT_TRUE(coverage.by_page());
  constexpr int64_t kChunk = int64_t{1} << 27;
  ASSERT_TRUE(coverage.add(kChunk - 300 * 4096, kChunk + 300 * 4096, budget));
  EXPECT_EQ(coverage.distinct_bytes(), (100 + 600) * 4096);
}

TEST(ByteCoverageTest, NeverClaimsMoreBytesThanWereRead) {
  CoverageBudget budget;
  ByteCoverage coverage;
  for (int64_t i = 0; i < 200; ++i) ASSERT_TRUE(coverage.add(i * 100'000, i * 100'000 + 10, budget));
  EXPECT_TRUE(coverage.by_page());
  EXPECT_EQ(coverage.distinct_bytes(), 2000);
}

TEST(ByteCoverageTest, AddsNothingWhenTheBudgetIsSpent) {
  CoverageBudget budget{2000};
  ByteCoverage coverage;
  for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(coverage.add(i * 1'000'000, i * 1'000'000 + 10, budget));
  EXPECT_FALSE(coverage.add(100'000'000, 100'000'010, budget));
  EXPECT_EQ(coverage.bytes_added(), 640);
  EXPECT_EQ(coverage.distinct_bytes(), 640);
  EXPECT_TRUE(coverage.add(0, 10, budget));  // what is there already still counts
  ByteCoverage other;
  EXPECT_TRUE(other.add(0, 10, budget));
  EXPECT_FALSE(other.add(100, 110, budget));
}

// Pages need more than is left: what was taken for them is there for others.
TEST(ByteCoverageTest, ReturnsTheBudgetOfAFailedChangeToPages) {
  constexpr int64_t kFar = int64_t{1} << 30, kBitmaps = 40;
  CoverageBudget budget(kBitmaps * int64_t(sizeof(PageBitmap)));
  ByteCoverage coverage;
  for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(coverage.add(i * kFar, i * kFar + 10, budget));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(coverage.add(100 * kFar, 100 * kFar + 10, budget));
  EXPECT_FALSE(coverage.by_page());
  EXPECT_EQ(coverage.distinct_bytes(), 640);
  for (int64_t i = 0; i < kBitmaps - 2; ++i) EXPECT_NE(budget.take_bitmap(), nullptr) << i;
}

}  // namespace
}  // namespace mlrun::summary
