// SPDX-License-Identifier: Apache-2.0
#include "runner/options/path_rules_bytes.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/collect/session.h"

namespace mlrun::launch {
namespace {

using collect::testing::Folder;

TEST(PathRules, APatternBecomesAbsolute) {
  const auto absolute = [](const char* pattern) { return absolute_patterns(pattern, "/home/me[1]").value(); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(absolute("*.npy"), Texts({"**/*.npy"}));
  EXPECT_EQ(absolute("cache/"), Texts({"**/cache"}));
  EXPECT_EQ(absolute("/nowhere//a/../b/*/"), Texts({"/nowhere/b/*"}));
  EXPECT_EQ(absolute("out/*.txt"), Texts({"/home/me\\[1]/out/*.txt"}));
  EXPECT_EQ(absolute("**/x"), Texts({"**/x"}));
  EXPECT_EQ(absolute("/"), Texts({""}));
}

TEST(PathRules, AFolderBehindALinkIsMeantAsWell) {
  const Folder folder;
  std::filesystem::create_directory(folder.path + "/real");
  std::filesystem::create_directory_symlink(folder.path + "/real", folder.path + "/link");
  const auto patterns = absolute_patterns(folder.path + "/link/**/x", "/").value();
  EXPECT_EQ(patterns, std::vector<std::string>({folder.path + "/link/**/x", folder.path + "/real/**/x"}));
}

TEST(PathRules, AnEmptyOrMalformedPatternIsAnError) {
  for (const char* pattern : {"", "a[b", "a\\", "[!]"}) EXPECT_FALSE(absolute_patterns(pattern, "/")) << pattern;
  EXPECT_FALSE(encoded_path_rules({{}, std::vector<std::string>(100, std::string(1000, 'x'))}, "/"));
  EXPECT_EQ(encoded_path_rules({{"/a"}, {"b"}}, "/").value(), std::string("e**/b\0i/a\0", 10));
}

}  // namespace
}  // namespace mlrun::launch
