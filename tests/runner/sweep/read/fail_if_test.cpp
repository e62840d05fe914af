// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/fail_if.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runner/sweep/read/comparisons.h"

namespace mlrun::sweep {
namespace {

TEST(Conditions, AreOneFigureOneSignAndAPercentage) {
  const std::vector<std::string> known = {"wall_s", "max_rss_bytes"};
  const auto good = parse_condition("wall > +3 %", known);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->figure, "wall_s");
  EXPECT_TRUE(good->is_above);
  EXPECT_DOUBLE_EQ(good->limit, 0.03);
  const auto below = parse_condition("max_rss_bytes<-0.5%", known);
  ASSERT_TRUE(below);
  EXPECT_FALSE(below->is_above);
  EXPECT_DOUBLE_EQ(below->limit, -0.005);
  for (const char* bad : {"wall", "wall > 3", "wall > 3 s", "> 3 %", "wall > x %", "wall > +-3 %", "wall > nan %",
                          "wall > inf %", "wall > 3 % %", "wall >> 3 %", "wal > 3 %", "", "wall > %", "wall > 0x3 %"}) {
    const auto refused = parse_condition(bad, known);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().exit_code, 125);
    EXPECT_NE(refused.error().text.find("--fail-if '" + std::string(bad) + "'"), std::string::npos)
        << refused.error().text;
  }
  EXPECT_NE(parse_condition("wal > 3 %", {"wall_s", "wait_s"}).error().text.find("wall"), std::string::npos);
}

TEST(Conditions, AreJudgedByTheWholeInterval) {
  const Condition more{"wall > +3 %", "wall_s", true, 0.03}, less{"wall < -3 %", "wall_s", false, -0.03};
  const auto outcome = [](const Condition& condition, double low, double high) {
    return outcome_of(condition, compared((low + high) / 2, low, high, Verdict::kCannotTell));
  };
  EXPECT_EQ(outcome(more, -0.01, 0.03), Outcome::kPasses) << "the limit itself is allowed";
  EXPECT_EQ(outcome(more, 0.03, 0.05), Outcome::kUndecided) << "the lower end is not beyond the limit";
  EXPECT_EQ(outcome(more, 0.031, 0.05), Outcome::kFails);
  EXPECT_EQ(outcome(more, 0.01, 0.05), Outcome::kUndecided);
  EXPECT_EQ(outcome(less, -0.03, 0.01), Outcome::kPasses);
  EXPECT_EQ(outcome(less, -0.05, -0.031), Outcome::kFails);
  EXPECT_EQ(outcome(less, -0.05, -0.01), Outcome::kUndecided);
  Comparison few = compared(0.5, 0.4, 0.6, Verdict::kCannotTell);
  few.n_b = 2;
  EXPECT_EQ(outcome_of(more, few), Outcome::kUndecided);
}

TEST(Conditions, AFailureTakesPrecedenceOverAnUndecidedOne) {
  const auto status = [](std::vector<Outcome> outcomes) {
    std::vector<Judged> judged;
    for (const Outcome outcome : outcomes) judged.push_back({nullptr, nullptr, nullptr, outcome});
    return exit_status_of(judged);
  };
  EXPECT_EQ(status({}), 0);
  EXPECT_EQ(status({Outcome::kPasses, Outcome::kPasses}), 0);
  EXPECT_EQ(status({Outcome::kPasses, Outcome::kUndecided}), 2);
  EXPECT_EQ(status({Outcome::kFails, Outcome::kUndecided}), 1);
}

}  // namespace
}  // namespace mlrun::sweep
