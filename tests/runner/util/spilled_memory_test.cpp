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

#include "runner/util/flat_map.h"

namespace mlrun::util {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
using Numbers = std::vector<uint64_t, SpillAllocator<uint64_t>>;

std::string new_folder(const char* name) {
  std::string folder = testing::TempDir() + "spill_" + name + "_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

// By the kernel's own count.
size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
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

TEST(SpilledMemory, ATableLargerThanItsShareDoesNotGrowTheProcess) {
  const SpillFolder spill(new_folder("resident"), 0);
  summary::FlatMap<uint32_t, SpillAllocator> map;
  constexpr uint64_t kKeys = 6'500'000;  // 16 Mi slots of 12 bytes
  const size_t before = resident_bytes();
  size_t most = 0;
  for (uint64_t i = 1; i <= kKeys; ++i) {
    map.at(i * 0x9e3779b97f4a7c15u) = static_cast<uint32_t>(i);
    if (i % (1 << 18) == 0) most = std::max(most, resident_bytes());
  }
  EXPECT_GE(spill.spilled_bytes(), 190 * kMiB);
  EXPECT_LT(most, before + 160 * kMiB) << "with the tables before and after it grew there are 288 MiB";
  for (uint64_t i = 1; i <= kKeys; i += 997) ASSERT_EQ(*map.find(i * 0x9e3779b97f4a7c15u), i);
}

TEST(SpilledMemory, TakesMemoryWhereTheFolderCannotHoldFiles) {
  const SpillFolder spill("/proc", 0);
  const Numbers numbers(4 * kMiB, 9);
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(numbers.front() + numbers.back(), 18u);
}

}  // namespace
}  // namespace mlrun::util
