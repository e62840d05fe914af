// SPDX-License-Identifier: Apache-2.0
#include "runner/util/spilled_sort.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

std::vector<int64_t> all_of(SpilledSort<int64_t>& sorted) {
  std::vector<int64_t> all;
  auto pass = sorted.pass();
  while (const int64_t* item = pass.next()) all.push_back(*item);
  return all;
}

TEST(SpilledSort, HasNothingWithoutItems) {
  SpilledSort<int64_t> sorted;
  EXPECT_TRUE(sorted.empty());
  EXPECT_EQ(sorted.pass().next(), nullptr);
}

TEST(SpilledSort, MergesRunsOfAnyNumberTwice) {
  for (const size_t count : {1, 7, 8, 9, 64, 1001}) {
    std::mt19937_64 chance(count);
    SpilledSort<int64_t> sorted(8);
    std::vector<int64_t> expected;
    for (size_t i = 0; i < count; ++i) {
      expected.push_back(static_cast<int64_t>(chance() % 100));
      sorted.add(expected.back());
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(all_of(sorted), expected);
    EXPECT_EQ(all_of(sorted), expected);
    sorted.add(-1);
    expected.insert(expected.begin(), -1);
    EXPECT_EQ(all_of(sorted), expected);
  }
}

TEST(SpilledSort, KeepsRunsInFilesBeyondTheBudget) {
  const std::string folder = testing::TempDir() + "spilled_sort_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const SpillFolder spill(folder, 0);
  constexpr int64_t kRun = 600'000, kCount = 3 * kRun;  // a run is larger than what is never spilled
  SpilledSort<int64_t> sorted(kRun);
  for (int64_t i = 0; i < kCount; ++i) sorted.add(i * 7919 % kCount);
  auto pass = sorted.pass();
  for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(*pass.next(), i);
  EXPECT_EQ(pass.next(), nullptr);
  EXPECT_GE(spill.spilled_bytes(), static_cast<size_t>(kCount) * 8);
}

}  // namespace
}  // namespace mlrun::util
