// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>

#include <random>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "preload/base/glob.h"
}

namespace mlrun::preload_test {
namespace {

bool matches(const std::string& pattern, const std::string& path) {
  return glob_matches(pattern.c_str(), path.data(), path.size());
}

// The path, or one of its folders, as fnmatch has it.
bool fnmatch_matches(const std::string& pattern, const std::string& path) {
  for (size_t end = 0; end <= path.size(); end++) {
    if (end < path.size() && path[end] != '/') continue;
    if (fnmatch(pattern.c_str(), path.substr(0, end).c_str(), FNM_PATHNAME) == 0) return true;
  }
  return false;
}

std::string random_text(std::mt19937& random, const std::vector<std::string>& pieces, size_t most) {
  std::string text;
  for (size_t i = random() % most; i > 0; i--) text += pieces[random() % pieces.size()];
  return text;
}

TEST(Glob, AgreesWithFnmatchWhereThatKnowsThePattern) {
  std::mt19937 random(1);
  int positive = 0;
  for (int i = 0; i < 60000; i++) {
    std::string pattern = random_text(random, {"a", "b", "/", "*", "?", "[ab]", "[!a]", "\\b", "x"}, 9);
    while (pattern.find("**") != std::string::npos) pattern.erase(pattern.find("**"), 1);
    const std::string path = random_text(random, {"a", "b", "/", "a/", "x"}, 9);
    ASSERT_EQ(matches(pattern, path), fnmatch_matches(pattern, path)) << pattern << " on " << path;
    positive += matches(pattern, path);
  }
  EXPECT_GT(positive, 2000);
}

TEST(Glob, ADoubleStarPassesFolders) {
  EXPECT_TRUE(matches("/data/**", "/data/a/b"));
  EXPECT_FALSE(matches("/data/**", "/data"));
  EXPECT_FALSE(matches("/data/**", "/database/a"));
  EXPECT_TRUE(matches("/data/**/x.npy", "/data/x.npy"));
  EXPECT_TRUE(matches("/data/**/x.npy", "/data/a/b/x.npy"));
  EXPECT_FALSE(matches("/data/**/x.npy", "/data/a/xx.npy"));
  EXPECT_TRUE(matches("/data**.npy", "/data/a/xx.npy"));
  EXPECT_TRUE(matches("**/*.npy", "/x.npy"));
  EXPECT_TRUE(matches("**/a*/**/b?/*.npy", "/1/abc/2/3/b4/x.npy"));
  EXPECT_FALSE(matches("**/a*/**/b?/*.npy", "/1/abc/2/3/b4/5/x.np"));
  EXPECT_TRUE(matches("**/pipe:*", "pipe:[123]"));
}

TEST(Glob, AFolderMatchesWhatIsInIt) {
  EXPECT_TRUE(matches("/usr", "/usr/lib/x"));
  EXPECT_TRUE(matches("/usr", "/usr"));
  EXPECT_FALSE(matches("/usr", "/usr2"));
  EXPECT_TRUE(matches("**/node_modules", "/home/me/node_modules/a/b"));
  EXPECT_TRUE(matches("", "/anything"));
}

TEST(Glob, AnyPatternEndsOnAnyPath) {
  std::mt19937 random(2);
  for (int i = 0; i < 40000; i++) {
    const std::string pattern = random_text(random, {"a", "[", "]", "!", "-", "*", "**", "**/", "/", "\\", "?"}, 12);
    (void)matches(pattern, random_text(random, {"a", "b", "/", "]", "-"}, 30));
  }
}

}  // namespace
}  // namespace mlrun::preload_test
