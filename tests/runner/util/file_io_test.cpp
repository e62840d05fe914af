// SPDX-License-Identifier: Apache-2.0
#include "runner/util/file_io.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(FileIo, ALineEndsBeforeTheNewline) {
  const std::string path = testing::TempDir() + "mlrun_line_" + std::to_string(::getpid());
  for (const auto& [text, line] : {std::pair{"a b \n", "a b "}, {"a", "a"}, {"a\nb\n", "a"}, {"\n", ""}, {"", ""}}) {
    ASSERT_TRUE(write_atomically(path, text, 0600));
    EXPECT_EQ(read_line(path), line) << text;
  }
  ::unlink(path.c_str());
  EXPECT_EQ(read_line(path), "");
}

TEST(FileIo, FoldersAreMadeOnceWithThoseAboveThem) {
  const std::string top = testing::TempDir() + "mlrun_folders_" + std::to_string(::getpid()), below = top + "/a/b";
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(make_folders(below));
  EXPECT_TRUE(std::filesystem::is_directory(below));
  ASSERT_TRUE(write_atomically(below + "/file", "", 0600));
  const Status made = make_folders(below + "/file/c");
  std::filesystem::remove_all(top);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().text, "cannot create the folder " + below + "/file/c: Not a directory");
}

}  // namespace
}  // namespace mlrun::util
