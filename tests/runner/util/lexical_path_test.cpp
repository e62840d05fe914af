// SPDX-License-Identifier: Apache-2.0
#include "runner/util/lexical_path.h"

#include <gtest/gtest.h>

namespace mlrun::util {
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

}  // namespace
}  // namespace mlrun::util
