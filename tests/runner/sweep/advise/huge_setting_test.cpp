// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/huge_setting.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

// A /sys with this setting; empty: without one.
Result<std::string> with_setting(const std::string& words) {
  const fs::path system = fs::path(::testing::TempDir()) / ("huge_setting_" + std::to_string(::getpid()));
  const fs::path folder = system / "kernel/mm/transparent_hugepage";
  fs::create_directories(folder);
  if (!words.empty()) std::ofstream(folder / "enabled") << words << '\n';
  const auto result = huge_setting(system.string());
  fs::remove_all(system);
  return result;
}

TEST(HugeSetting, BlocksCanHaveHugePagesWhereTheyAreRequested) {
  const auto found = with_setting("always [madvise] never");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "");
}

TEST(HugeSetting, WhereAllBlocksHaveHugePagesLittleCanBeGained) {
  const auto found = with_setting("[always] madvise never");
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("all blocks of 2 MiB and more have huge pages"), std::string::npos) << *found;
}

TEST(HugeSetting, WithoutHugePagesThereIsNoAdvice) {
  for (const char* const words : {"always madvise [never]", ""}) {
    const auto found = with_setting(words);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text.find("no block can have huge pages"), std::string::npos) << found.error().text;
    EXPECT_EQ(found.error().text.find("write madvise to it") == std::string::npos, words == std::string())
        << "a missing file cannot be written: " << found.error().text;
  }
}

}  // namespace
}  // namespace mlrun::sweep
