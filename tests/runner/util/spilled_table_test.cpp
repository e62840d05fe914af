// SPDX-License-Identifier: Apache-2.0
// Minutes on a loaded machine: of the second tier.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "runner/util/flat_map.h"
#include "runner/util/spilled_memory.h"

namespace mlrun::util {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

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

TEST(SpilledMemory, ATableLargerThanItsShareDoesNotGrowTheProcess) {
  const SpillFolder spill(new_folder("resident"), 0);
  FlatMap<uint32_t, SpillAllocator> map;
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

}  // namespace
}  // namespace mlrun::util
