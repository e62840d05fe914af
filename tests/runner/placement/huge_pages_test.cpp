// SPDX-License-Identifier: Apache-2.0
// Whether a rule may ask for huge pages, by a folder made like /sys.
#include "runner/placement/huge_pages.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::placement {
namespace {

namespace fs = std::filesystem;

class HugePages : public testing::Test {
 protected:
  ~HugePages() override { fs::remove_all(system_); }

  void write(const std::string& name, const std::string& words) {
    const fs::path file = fs::path(system_) / "kernel/mm/transparent_hugepage" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << words << '\n';
  }

  const std::string system_ = testing::TempDir() + "/huge_pages_" + std::to_string(::getpid());
};

TEST_F(HugePages, AreRefusedWhereTheSystemNeverGivesThem) {
  write("enabled", "always madvise [never]");
  EXPECT_EQ(huge_page_setting(system_), "never");
  const Status never = check_huge_pages(system_);
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().text.find("is never; write madvise to it"), std::string::npos) << never.error().text;
  for (const char* const words : {"[always] madvise never", "always [madvise] never"}) {
    write("enabled", words);
    EXPECT_TRUE(check_huge_pages(system_)) << words;
  }
}

TEST_F(HugePages, AreRefusedWhereTheKernelHasNone) {
  EXPECT_TRUE(check_huge_pages(system_)) << "/sys may be hidden";
  fs::create_directories(fs::path(system_) / "kernel/mm");
  const Status missing = check_huge_pages(system_);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text.find("is missing"), std::string::npos) << missing.error().text;
}

TEST_F(HugePages, TheSettingOfTheirSizeComesBeforeThatOfTheSystem) {
  write("enabled", "always madvise [never]");
  write("hugepages-2048kB/enabled", "always inherit [madvise] never");
  EXPECT_EQ(huge_page_setting(system_), "madvise");
  write("hugepages-2048kB/enabled", "always [inherit] madvise never");
  EXPECT_EQ(huge_page_setting(system_), "never");
  write("enabled", "[always] madvise never");
  write("hugepages-2048kB/enabled", "always inherit madvise [never]");
  const Status never = check_huge_pages(system_);
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().text.find("hugepages-2048kB/enabled is never"), std::string::npos) << never.error().text;
}

}  // namespace
}  // namespace mlrun::placement
