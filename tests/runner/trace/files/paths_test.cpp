// SPDX-License-Identifier: Apache-2.0
// Paths as text, mounts, and symbolic links on a real file system.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "runner/trace/files/mounts.h"
#include "runner/trace/files/symlinks.h"
#include "runner/util/lexical_path.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::trace {
namespace {

TEST(LexicalPath, IsMadeAbsoluteByTheLetter) {
  EXPECT_EQ(absolute_path("/home/me", "a/b"), "/home/me/a/b");
  EXPECT_EQ(absolute_path("/home/me", "/a//b/./c"), "/a/b/c");
  EXPECT_EQ(absolute_path("/home/me", "../you/x"), "/home/you/x");
  EXPECT_EQ(absolute_path("/", "../../x"), "/x");
  EXPECT_EQ(absolute_path("/a", ".."), "/");
  EXPECT_EQ(absolute_path("/a/b", ""), "/a/b");
  EXPECT_EQ(absolute_path("", "a/../b"), "a/../b");
}

TEST(LexicalPath, KnowsFoldersAndTheKernelsTexts) {
  EXPECT_EQ(folder_of("/a/b"), "/a");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("a"), "");
  EXPECT_EQ(without_deleted("/tmp/x (deleted)"), "/tmp/x");
  EXPECT_EQ(without_deleted("/tmp/x"), "/tmp/x");
  EXPECT_TRUE(is_nameless("pipe:[12]"));
  EXPECT_TRUE(is_nameless("anon_inode:[eventpoll]"));
  EXPECT_TRUE(is_nameless("/memfd:x (deleted)"));
  EXPECT_FALSE(is_nameless("/tmp/pipe:[12]"));
  EXPECT_FALSE(is_nameless("a:[b"));
}

TEST(Mounts, PrefersTheDeviceThenTheLongestPoint) {
  const Mounts mounts(
      "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "2 1 0:30 / /data rw,relatime shared:5 - xfs none rw\n"
      "3 2 8:1 /x /data/inner\\040one rw - ext4 /dev/sda1 rw\n"
      "nonsense\n"
      "4 1 0:31 / /data rw - tmpfs none rw\n");
  ASSERT_NE(mounts.find(0, "/home/x"), nullptr);
  EXPECT_EQ(mounts.find(0, "/home/x")->point, "/");
  EXPECT_EQ(mounts.find(0, "/data/x")->file_system, "tmpfs") << "the later mount hides the earlier one";
  EXPECT_EQ(mounts.find(static_cast<uint32_t>(makedev(0, 30)), "/data/x")->file_system, "xfs");
  EXPECT_EQ(mounts.find(static_cast<uint32_t>(makedev(8, 1)), "/data/inner one/f")->point, "/data/inner one");
  EXPECT_EQ(mounts.find(0, "/database")->point, "/");
  EXPECT_EQ(mounts.find(999, "/data/x")->file_system, "tmpfs") << "a device of no mount: by path";
  EXPECT_EQ(Mounts("").find(0, "/x"), nullptr);
}

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
