// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/advice.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "runner/placement/rule_file.h"

namespace mlrun::sweep {
namespace {

TEST(AdviceFile, EachFileOfACallerIsKnownWithItsBuildAlsoOneWithoutNamesOfFunctions) {
  const std::string path =
      (std::filesystem::path(::testing::TempDir()) / ("advice_" + std::to_string(::getpid()))).string();
  Advice advice;
  advice.fast = "node 1";
  advice.slow = "node 0";
  advice.figure = "wall";
  advice.capacity_bytes = 1 << 30;
  advice.min_bytes = 64 << 10;
  advice.command.words = {"./app"};
  advice.signatures = {"0123456789abcdef+10,1123456789abcdef+20,2123456789abcdef+30"};
  advice.labels = {"named < ? < ?"};
  advice.frames = {{"0123456789abcdef+10", "named", "/nowhere/named.so"},
                   {"1123456789abcdef+20", "", "/nowhere/stripped"},
                   {"2123456789abcdef+30", "", "[vdso]"}};
  std::ofstream(path) << advice_text(advice);
  const auto again = read_advice(path);
  ASSERT_TRUE(again) << again.error().text;
  ASSERT_EQ(again->frames.size(), 2u) << "what has no path is no file that can change";
  EXPECT_EQ(again->frames[0].function, "named");
  EXPECT_EQ(again->frames[1].function, "");
  EXPECT_EQ(again->frames[1].library, "/nowhere/stripped");
  EXPECT_EQ(again->signatures, advice.signatures);
  EXPECT_EQ(again->labels, advice.labels);
  const auto rules = placement::read_rule_file(path);
  ASSERT_TRUE(rules) << rules.error().text;
  EXPECT_NE(rules->front().remark.find("/nowhere/named.so, /nowhere/stripped"), std::string::npos)
      << rules->front().remark;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mlrun::sweep
