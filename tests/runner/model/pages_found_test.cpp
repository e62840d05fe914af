// SPDX-License-Identifier: Apache-2.0
#include "runner/model/pages_found.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace mlrun::model {
namespace {

// 1,000 pages more with each sample on node 1 until it is full, then on node 0.
TEST(PagesFound, BytesAreThoseOfTheFullMemory) {
  PagesFound found;
  for (uint64_t i = 1; i <= 10; i++)
    found.add({{1, std::min<uint64_t>(i, 8) * 1000}, {0, i > 8 ? i * 1000 - 8000 : 0}}, 1.0, i * 1000);
  for (int i = 0; i < 4; i++) found.add({{1, 8000}, {0, 2000}}, 1.0, 10'000);
  found.add({{1, 1000}}, 1.0, 1000);
  EXPECT_EQ(found.samples, 15u);
  EXPECT_EQ(found.full_samples, 5u);
  EXPECT_DOUBLE_EQ(found.bytes[1], 5 * 8000.0);
  EXPECT_DOUBLE_EQ(found.bytes[0], 5 * 2000.0);
  EXPECT_EQ(found.resident_bytes, 50'000u);
  EXPECT_EQ(found.sampled[1], 36'000u + 16'000 + 32'000 + 1000);
}

// Of 8,192 pages 75 to 85 are resident.
TEST(PagesFound, OfSparseMemoryIsTheMeanAndAtMostWhatIsResident) {
  PagesFound found;
  for (const uint64_t pages : {80, 75, 85, 70, 90, 80}) found.add({{0, pages}}, 100.0, 9000);
  EXPECT_EQ(found.full_samples, 6u);
  EXPECT_DOUBLE_EQ(found.bytes[0], (80 + 75 + 85 + 70 + 90 + 80) * 100.0);
  found = {};
  found.add({{0, 1}, {1, 3}}, 1e9, 8000);
  EXPECT_DOUBLE_EQ(found.bytes[1], 6000.0);
}

// As after MADV_DONTNEED of nearly all of a block: so few pages are no reason to call anything chance.
TEST(PagesFound, SamplesOfFreedMemoryDoNotCount) {
  PagesFound found;
  for (int i = 0; i < 4; i++) found.add({{1, 8000}}, 1.0, 8000);
  for (int i = 0; i < 40; i++) {
    found.add({}, 1.0, 100);
    found.add({{1, 4}}, 1.0, 100);
  }
  EXPECT_EQ(found.samples, 84u);
  EXPECT_EQ(found.full_samples, 4u);
  EXPECT_DOUBLE_EQ(found.bytes[1], 4 * 8000.0);
}

TEST(PagesFound, WhereFewPagesAreExpectedASampleWithoutAnyCounts) {
  PagesFound found;
  for (int i = 0; i < 2; i++) {
    found.add({{0, 4}}, 1.0, 100);
    found.add({}, 1.0, 100);
  }
  EXPECT_EQ(found.full_samples, 4u);
  EXPECT_DOUBLE_EQ(found.bytes[0], 2 * 4.0);
}

TEST(PagesFound, OfSeveralProcessesAreAddedUp) {
  PagesFound sum, one, two;
  for (int i = 0; i < 2; i++) one.add({{0, 100}, {1, 300}}, 10.0, 5000);
  for (int i = 0; i < 4; i++) two.add({{0, 50}}, 10.0, 800);
  sum.add(one);
  sum.add(two);
  EXPECT_EQ(sum.samples, 6u);
  EXPECT_EQ(sum.sampled[0], 2u * 100 + 4 * 50);
  EXPECT_EQ(sum.full_samples, 1u);
  EXPECT_DOUBLE_EQ(sum.bytes[0], 1000.0 + 500.0);
  EXPECT_DOUBLE_EQ(sum.bytes[1], 3000.0);
  EXPECT_EQ(sum.resident_bytes, 5800u);
}

}  // namespace
}  // namespace mlrun::model
