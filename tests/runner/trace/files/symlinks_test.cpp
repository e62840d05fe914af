// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/symlinks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun::trace {
namespace {

struct Identity {
  uint32_t device;
  uint64_t inode;
};
Identity identity_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return {static_cast<uint32_t>(status.st_dev), status.st_ino};
}

TEST(Symlinks, LeadToTheFileThatWasOpened) {
  const testing::TraceFolder folder;
  const std::string root = std::filesystem::canonical(folder.path()).string();
  std::filesystem::create_directories(root + "/real");
  std::ofstream(root + "/real/file") << "x";
  ASSERT_EQ(::symlink("real", (root + "/folder-link").c_str()), 0);
  ASSERT_EQ(::symlink("real/file", (root + "/file-link").c_str()), 0);
  const Identity file = identity_of(root + "/real/file");
  Symlinks links;
  EXPECT_EQ(links.resolve(root + "/folder-link/file", file.device, file.inode), root + "/real/file");
  EXPECT_EQ(links.resolve(root + "/file-link", file.device, file.inode), root + "/real/file");
  EXPECT_EQ(links.with_resolved_folder(root + "/folder-link/none"), root + "/real/none");
}

TEST(Symlinks, KeepThePathOfAFileThatIsNotThereAnyMore) {
  const testing::TraceFolder folder;
  const std::string root = std::filesystem::canonical(folder.path()).string();
  std::ofstream(root + "/other") << "x";
  ASSERT_EQ(::symlink("other", (root + "/link").c_str()), 0);
  Symlinks links;
  EXPECT_EQ(links.resolve(root + "/link", 1, 2), root + "/link") << "it leads to another inode now";
  EXPECT_EQ(links.resolve(root + "/gone", 1, 2), root + "/gone");
  EXPECT_EQ(links.resolve("/proc/self/maps", 1, 2), "/proc/self/maps");
  EXPECT_EQ(links.resolve("relative", 1, 2), "relative");
}

}  // namespace
}  // namespace mlrun::trace
