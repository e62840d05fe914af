// SPDX-License-Identifier: Apache-2.0
#include "runner/util/flat_map.h"

#include <random>
#include <unordered_map>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(FlatMapTest, FindsNothingWhenEmpty) {
  FlatMap<int> map;
  EXPECT_EQ(map.find(1), nullptr);
  map.erase(1);
  EXPECT_EQ(map.size(), 0u);
}

// Few distinct keys, so that runs form, are cut and close again.
TEST(FlatMapTest, AgreesWithTheStandardMapUnderInsertionAndRemoval) {
  FlatMap<int64_t> map;
  std::unordered_map<uint64_t, int64_t> expected;
  std::mt19937_64 random(3);
  for (int64_t i = 0; i < 200'000; ++i) {
    const uint64_t key = 0x7f00'0000'0000 + (1 + random() % 3000) * 1024;
    if (random() % 2 == 0) {
      bool made = false;
      map.at(key, &made) = i;
      EXPECT_EQ(made, !expected.contains(key));
      expected[key] = i;
    } else {
      map.erase(key);
      expected.erase(key);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  for (const auto& [key, value] : expected) {
    ASSERT_NE(map.find(key), nullptr);
    EXPECT_EQ(*map.find(key), value);
  }
  size_t visited = 0;
  map.for_each([&](uint64_t key, int64_t value) {
    ++visited;
    EXPECT_EQ(expected.at(key), value);
  });
  EXPECT_EQ(visited, expected.size());
}

TEST(FlatMapTest, PacksSmallValues) {
  EXPECT_EQ(sizeof(FlatMap<uint32_t>::Slot), 12u);
  EXPECT_EQ(sizeof(FlatMap<uint64_t>::Slot), 16u);
  FlatMap<uint32_t> map;
  for (uint64_t key = 1; key <= 1000; ++key) map.at(key << 32 | 7) = static_cast<uint32_t>(key);
  for (uint64_t key = 1; key <= 1000; ++key) ASSERT_EQ(*map.find(key << 32 | 7), key);
  EXPECT_EQ(map.find(7), nullptr);
}

TEST(FlatMapTest, GrowsBeyondAHugePage) {
  FlatMap<uint64_t> map;
  for (uint64_t key = 1; key <= 400'000; ++key) map.at(key) = key * 2;
  for (uint64_t key = 1; key <= 400'000; ++key) ASSERT_EQ(*map.find(key), key * 2);
  map.clear();
  EXPECT_EQ(map.find(1), nullptr);
}

}  // namespace
}  // namespace mlrun::util
