// SPDX-License-Identifier: Apache-2.0
// Which cells are compared with each other, and what is said of them; series over several sweeps.
#include <algorithm>

#include <gtest/gtest.h>

#include "runner/sweep/read/compare_text.h"
#include "runner/sweep/read/past.h"
#include "runner/sweep/read/quantity.h"
#include "tests/runner/sweep/read/made_sweep.h"

namespace mlrun::sweep {
namespace {

WallOf times(double of_full) {
  return [of_full](uint32_t configuration, uint32_t workload, int32_t block) {
    return (2 + workload) * (configuration == 1 ? of_full : 1) * noise(configuration, workload, block);
  };
}

Side side_of(const Sweep& sweep, const std::string& name, std::optional<uint32_t> configuration = std::nullopt) {
  Side side;
  side.name = name;
  side.sweep = sweep;
  side.sweep.folder = name;
  side.configuration = configuration;
  return side;
}

const Comparison& wall_of(const Compared& compared, size_t pair = 0) {
  return std::ranges::find_if(compared.rows,
                              [&](const ComparedRow& row) { return row.pair == pair && row.figure == "wall_s"; })
      ->comparison;
}

bool warns(const Compared& compared, const std::string& of) {
  return std::ranges::any_of(compared.warnings,
                             [&](const std::string& text) { return text.find(of) != std::string::npos; });
}

TEST(Compare, ConfigurationsOfASweepArePairedByBlock) {
  const Sweep sweep = made_sweep({}, times(1.05));
  const auto compared = compare_within(sweep, "", std::nullopt);
  ASSERT_TRUE(compared);
  ASSERT_EQ(compared->pairs.size(), 1u);
  EXPECT_EQ(compared->pairs[0].base, "dry");
  EXPECT_EQ(compared->pairs[0].configuration, "full");
  EXPECT_EQ(wall_of(*compared).verdict, Verdict::kDiffers);
  EXPECT_EQ(wall_of(*compared).pairs, 10u);
  EXPECT_TRUE(compared->warnings.empty());
  const std::string text = compare_text(*compared, {}, {}, {});
  EXPECT_NE(text.find("differs by +5.1 % ("), std::string::npos) << text;
  EXPECT_LT(text.find("wall_s"), text.find("exploratory")) << "the question first";
  EXPECT_GT(text.find("user_s"), text.find("exploratory"));
}

TEST(Compare, ASmallDifferenceIsEqualWithinTheMargin) {
  const Sweep sweep = made_sweep({}, times(1));
  EXPECT_EQ(wall_of(*compare_within(sweep, "", 0.03)).verdict, Verdict::kEqual);
  const auto strict = compare_within(sweep, "full", 0.0001);
  ASSERT_TRUE(strict);
  EXPECT_EQ(strict->pairs[0].base, "full") << "the base that was given";
  EXPECT_NE(wall_of(*strict).verdict, Verdict::kEqual);
}

TEST(Compare, TwoRunsASideGiveNoVerdict) {
  const Sweep sweep = made_sweep({.blocks = 2}, times(3));
  const auto compared = compare_within(sweep, "", std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_NE(compare_text(*compared, {}, {}, {})
                .find("cannot tell: +200 %, 2 runs against 2 runs; each side needs at least 3"),
            std::string::npos);
}

TEST(Compare, TwoSweepsAreNotPairedAndTheirTimesGiveAWarning) {
  const Side a = side_of(made_sweep({}, times(1)), "before"), b = side_of(made_sweep({}, times(1.05)), "after");
  const auto compared = compare_sides(a, b, std::nullopt);
  ASSERT_TRUE(compared);
  ASSERT_EQ(compared->pairs.size(), 2u);
  EXPECT_EQ(compared->pairs[1].base, "full");
  EXPECT_EQ(wall_of(*compared, 1).pairs, 0u);
  EXPECT_EQ(wall_of(*compared, 1).verdict, Verdict::kDiffers);
  EXPECT_TRUE(warns(*compared, "at different times"));
  EXPECT_EQ(compared->questions, 2u) << "one correction over both configurations";
}

TEST(Compare, DifferencesOfTheMachineAreNamedAndThoseOfARunAreNot) {
  Sweep before = made_sweep({}, times(1)), after = made_sweep({}, times(1));
  for (Sweep* sweep : {&before, &after}) {
    const bool is_after = sweep == &after;
    for (RunRow& run : sweep->runs) {
      const std::string job = (is_after ? "8_" : "7_") + std::to_string(run.id);
      run.facts = {{"governor", is_after ? "performance" : "powersave"},
                   {"kernel", "6.1"},
                   {"node", is_after ? "n2" : "n1"},
                   {"commit", is_after ? "b" : "a"},
                   {"slurm_job", job},
                   {"left_running", is_after ? "2" : "1"}};
    }
  }
  const auto compared = compare_sides(side_of(before, "before"), side_of(after, "after"), std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_TRUE(warns(*compared, "governor: powersave at before, performance at after"));
  EXPECT_TRUE(warns(*compared, "node: n1 at before, n2 at after"));
  for (const char* name : {"kernel: ", "commit: ", "slurm_job: ", "left_running: "})
    EXPECT_FALSE(warns(*compared, name)) << name;
}

TEST(Compare, ConfigurationsAndWorkloadsOfOneSideAreNamed) {
  const Side a = side_of(made_sweep({.workloads = {"x", "y"}}, times(1)), "before");
  const Side b = side_of(made_sweep({.workloads = {"y", "z"}}, times(1)), "after");
  const auto compared = compare_sides(a, b, std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->pairs.size(), 2u);
  EXPECT_TRUE(warns(*compared, "only in before: full, x"));
  EXPECT_TRUE(warns(*compared, "only in after: dry, z"));
  EXPECT_FALSE(compare_sides(a, side_of(made_sweep({.workloads = {"u", "z"}}, times(1)), "after"), std::nullopt));
}

TEST(Compare, SingleWorkloadsOfDifferentNamesAreComparedWithAWarning) {
  const Side a = side_of(made_sweep({.workloads = {"x"}}, times(1)), "before");
  const auto compared = compare_sides(a, side_of(made_sweep({.workloads = {"y"}}, times(1)), "after"), std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->pairs.size(), 2u);
  EXPECT_TRUE(warns(*compared, "the workloads differ: x of before, y of after"));
}

TEST(Compare, AConfigurationIsComparedWithAnotherOne) {
  const Sweep sweep = made_sweep({.workloads = {"x", "y"}}, times(1.05));
  const auto compared = compare_sides(side_of(sweep, "a:dry", 0), side_of(sweep, "b:full", 1), std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->pairs.size(), 2u);
  const auto refused = compare_sides(side_of(sweep, "a"), side_of(sweep, "b:full", 1), std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("write a:NAME with one of: dry, full"), std::string::npos)
      << refused.error().text;
}

TEST(Compare, WarnsOfFailuresAndOfARunOrderThatHidesDrift) {
  Sweep sweep = made_sweep({.order = Order::kSequence}, times(1.05));
  sweep.runs[1].state = RunState::kFailed;
  sweep.runs[1].exit_status = 3;
  const auto compared = compare_within(sweep, "", std::nullopt);
  ASSERT_TRUE(compared);
  EXPECT_TRUE(warns(*compared, "looks like an effect"));
  EXPECT_TRUE(
      warns(*compared, "full, train.py --workers 2: 1 of 10 runs failed and are in no figure: 1 with exit status 3"));
  EXPECT_EQ(wall_of(*compared).pairs, 0u) << "blocks are no pairs there";
}

TEST(Compare, AConditionOnASideWithoutRunsIsUndecided) {
  Sweep sweep = made_sweep({.workloads = {"x", "y"}}, times(1));
  for (RunRow& run : sweep.runs) {
    if (run.planned.configuration == 1 && run.planned.workload == 1) run.state = RunState::kFailed;
  }
  const auto compared = compare_within(sweep, "", std::nullopt);
  ASSERT_TRUE(compared);
  const std::vector<Condition> conditions = {*parse_condition("wall > +3 %", {"wall_s"})};
  const std::vector<Judged> judged = judge(conditions, *compared);
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_EQ(judged[0].outcome, Outcome::kPasses);
  EXPECT_EQ(judged[1].outcome, Outcome::kUndecided);
  EXPECT_EQ(exit_status_of(judged), 2);
}

TEST(CompareText, FitsEveryWidthAndIsAsciiWhereAsked) {
  const Sweep sweep =
      made_sweep({.configurations = {"dry", "full", "a_configuration_with_a_long_name_of_its_own"}}, times(1.05));
  const auto compared = compare_within(sweep, "", std::nullopt);
  ASSERT_TRUE(compared);
  const std::vector<Condition> conditions = {*parse_condition("wall > +3 %", {"wall_s"})};
  for (const size_t width : {60, 80, 100, 132, 200}) {
    for (const bool unicode : {false, true}) {
      report::TextStyle style;
      style.width = width;
      style.glyphs.unicode = unicode;
      const std::string text = compare_text(*compared, {}, judge(conditions, *compared), style);
      EXPECT_EQ(lines_wider_than(text, width), "") << text;
      EXPECT_TRUE(unicode || beyond_ascii(text).empty()) << text;
      EXPECT_NE(text.find("wall > +3 %: fails"), std::string::npos) << text;
    }
  }
}

TEST(Past, AChangeIsFoundAtTheSweepWhereItBegins) {
  std::vector<Sweep> sweeps;
  for (int32_t i = 0; i < 20; ++i) {
    Sweep& sweep = sweeps.emplace_back(made_sweep({}, [i](uint32_t c, uint32_t w, int32_t block) {
      return (i >= 12 && c == 1 ? 2.2 : 2.0) * noise(c, w, block + 3 * i);
    }));
    sweep.folder = "sweep" + std::to_string(i);
    sweep.runs.front().facts["commit"] = "c" + std::to_string(i);
  }
  const std::vector<PastSeries> past = past_of(sweeps, "wall_s");
  ASSERT_EQ(past.size(), 2u);
  EXPECT_TRUE(past[0].changes.empty());
  ASSERT_EQ(past[1].changes.size(), 1u);
  const ChangePoint& change = past[1].changes[0];
  EXPECT_EQ(past[1].points[change.index].commit, "c12");
  EXPECT_NEAR(change.after / change.before, 1.1, 0.01);
}

}  // namespace
}  // namespace mlrun::sweep
