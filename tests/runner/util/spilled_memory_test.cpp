// SPDX-License-Identifier: Apache-2.0
#include "runner/util/spilled_memory.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
using Numbers = std::vector<uint64_t, SpillAllocator<uint64_t>>;

std::string new_folder(const char* name) {
  std::string folder = testing::TempDir() + "spill_" + name + "_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(SpilledMemory, StaysAnonymousWithinTheBudget) {
  const SpillFolder spill(new_folder("anonymous"), 64 * kMiB);
  const Numbers numbers(4 * kMiB, 7);
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(numbers.back(), 7u);
}

TEST(SpilledMemory, KeepsWhatIsWrittenAndLeavesNoFile) {
  const std::string folder = new_folder("kept");
  const SpillFolder spill(folder, 0);
  Numbers numbers;
  for (uint64_t i = 0; i < 40 * kMiB / sizeof i; ++i) numbers.push_back(i * 3);
  EXPECT_GE(spill.spilled_bytes(), 40 * kMiB);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (uint64_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i * 3);
}

TEST(SpilledMemory, TakesMemoryWhereTheFolderCannotHoldFiles) {
  const SpillFolder spill("/proc", 0);
  const Numbers numbers(4 * kMiB, 9);
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(numbers.front() + numbers.back(), 18u);
}

}  // namespace
}  // namespace mlrun::util
