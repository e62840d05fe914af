// SPDX-License-Identifier: Apache-2.0
// Cells, statistics of them, and the formats of the older scripts.
#include <gtest/gtest.h>

#include "runner/sweep/read/heimdallr.h"
#include "runner/sweep/read/outside.h"
#include "runner/sweep/read/remarks.h"
#include "runner/sweep/read/stat_text.h"
#include "tests/runner/sweep/read/made_sweep.h"

namespace mlrun::sweep {
namespace {

// `full` takes 5 % longer than `dry`.
double five_percent(uint32_t configuration, uint32_t workload, int32_t block) {
  return (2 + workload) * (configuration == 1 ? 1.05 : 1) * noise(configuration, workload, block);
}

TEST(Cells, TakeTheLastAttemptOfARun) {
  Sweep sweep = made_sweep({.blocks = 3}, five_percent);
  sweep.runs[0].state = RunState::kFailed;
  RunRow again = sweep.runs[0];
  again.attempt = 2;
  again.state = RunState::kDone;
  sweep.runs.insert(sweep.runs.begin() + 1, again);
  sweep.runs.back().state = RunState::kTimedOut;
  const std::vector<Cell> cells = cells_of(sweep);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].done.size(), 3u) << "the second attempt succeeded";
  EXPECT_TRUE(cells[0].failed.empty());
  EXPECT_EQ(cells[1].done.size(), 2u);
  EXPECT_EQ(cells[1].failed.size(), 1u);
  EXPECT_EQ(remarks_on(cells[1]).at(0), "1 of 3 runs failed and are in no figure: 1 beyond the time limit");
}

TEST(Cells, TheBaseIsTheDryConfigurationThatDiffersOnlyInRecording) {
  Sweep sweep = made_sweep({.configurations = {"near", "dry", "far", "far_dry"}}, five_percent);
  sweep.configurations[3].is_dry = true;
  for (const uint32_t far : {2u, 3u}) sweep.configurations[far].mem_node = 1;
  EXPECT_EQ(base_of(sweep, 0), 1u);
  EXPECT_EQ(base_of(sweep, 2), 3u);
  EXPECT_EQ(base_of(sweep, 3), 1u);
  for (Configuration& each : sweep.configurations) each.is_dry = false;
  EXPECT_EQ(base_of(sweep, 2), 0u) << "the first, where none is dry";
}

TEST(Statistics, OverheadIsRelativeToTheDryConfiguration) {
  const Sweep sweep = made_sweep({}, five_percent);
  const Statistics all = statistics_of(sweep, {});
  EXPECT_EQ(all.figures, (std::vector<std::string>{"wall_s", "sys_s", "user_s"})) << "the question first";
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.rows[0].base, nullptr);
  const Comparison& overhead = all.rows[1].overhead.at("wall_s");
  EXPECT_NEAR(overhead.difference, 0.05, 0.005);
  EXPECT_LT(overhead.low, 0.05);
  EXPECT_GT(overhead.high, 0.05);
  EXPECT_EQ(overhead.pairs, 10u);
}

TEST(Statistics, PoolingRunsWithAndWithoutDeviceReadsGivesAWarning) {
  Sweep sweep = made_sweep({.blocks = 5}, five_percent);
  for (RunRow& run : sweep.runs)
    run.figures["read_bytes"] = run.planned.configuration == 1 && run.planned.block < 3 ? 64 << 20 : 0;
  const std::vector<Cell> cells = cells_of(sweep);
  EXPECT_FALSE(unlike_reads(cells[0]));
  const auto unlike = unlike_reads(cells[1]);
  ASSERT_TRUE(unlike);
  EXPECT_EQ(unlike->many, 2u);
  EXPECT_EQ(unlike->few, 3u);
  EXPECT_TRUE(unlike_sides(cells[0], cells[1]));
  for (RunRow& run : sweep.runs) run.figures["read_bytes"] = 64 << 20;
  EXPECT_FALSE(unlike_sides(cells[0], cells[1])) << "all of them read everything";
  for (RunRow& run : sweep.runs) run.figures["read_bytes"] = run.planned.block * 4096;
  EXPECT_FALSE(unlike_reads(cells[1])) << "a few pages of programs";
}

TEST(Statistics, TheLikelyReasonOfASlowRunIsNamed) {
  Sweep sweep = made_sweep({.configurations = {"full"}, .blocks = 10}, five_percent);
  for (RunRow& run : sweep.runs) run.machine["steal_share"] = 0.001 * noise(0, 0, run.planned.block);
  sweep.runs[6].figures["wall_s"] = 3.2;
  sweep.runs[6].machine["steal_share"] = 0.35;
  const auto outside = runs_outside(sweep);
  ASSERT_EQ(outside.size(), 1u);
  const std::string text = outside_text(sweep.runs[6], outside.begin()->second, {});
  EXPECT_NE(text.find("3.20 s, +60 % against the 2.00 s of the others; likely: "), std::string::npos) << text;
  EXPECT_NE(text.find("steal_share 35 % against 0.10 %"), std::string::npos) << text;
  EXPECT_NE(stat_text(sweep, statistics_of(sweep, {"wall_s"}), {}).find("w0.full.7: 3.20 s"), std::string::npos);
}

// Numbers of Python's statistics module for 1.5, 2.5, 4.0 and for 3.0 alone.
TEST(Heimdallr, StatIsTheCsvOfTheOlderScript) {
  Sweep sweep = made_sweep({.configurations = {"hms"}, .blocks = 3}, [](auto, auto, int32_t block) {
    return block == 1 ? 1.5 : block == 2 ? 2.5 : 4.0;
  });
  sweep.configurations.emplace_back().name = "dry";
  RunRow single = sweep.runs.front();
  single.id = 9;
  single.planned.configuration = 1;
  single.planned.folder = "w0.dry.1";
  single.figures = {{"wall_s", 3.0}, {"user_s", 2.0}, {"sys_s", 1.0}};
  sweep.runs.push_back(single);
  EXPECT_EQ(
      heimdallr_stat(sweep),
      "prog,mode,reps,utime_med,utime_min,utime_max,utime_avg,utime_std,stime_med,stime_min,stime_max,stime_avg,stime_"
      "std,"
      "wtime_med,wtime_min,wtime_max,wtime_avg,wtime_std\n"
      "w0,dry,1,2.0000e+00,2.0000e+00,2.0000e+00,2.0000e+00,0.0000e+00,1.0000e+00,1.0000e+00,1.0000e+00,1.0000e+00,"
      "0.0000e+00,3.0000e+00,3.0000e+00,3.0000e+00,3.0000e+00,0.0000e+00\n"
      "w0,hms,3,1.2500e+00,7.5000e-01,2.0000e+00,1.3333e+00,6.2915e-01,2.5000e-01,1.5000e-01,4.0000e-01,2.6667e-01,"
      "1.2583e-01,2.5000e+00,1.5000e+00,4.0000e+00,2.6667e+00,1.2583e+00\n");
  EXPECT_EQ(heimdallr_list(sweep), "  9: w0.dry.1\n  1: w0.hms.1\n") << "the first run of each program and mode";
}

TEST(StatText, FitsEveryWidthAndIsAsciiWhereAsked) {
  const Sweep sweep =
      made_sweep({.configurations = {"dry", "full", "a_configuration_with_a_long_name_of_its_own"},
                  .workloads = {"train.py --workers 2", "bin/prog --with 'many words' and a path /a/b/c/d/e/f/g/h"}},
                 five_percent);
  const Statistics all = statistics_of(sweep, {"wall_s", "user_s"});
  for (const size_t width : {60, 80, 100, 132, 200}) {
    for (const bool unicode : {false, true}) {
      report::TextStyle style;
      style.width = width;
      style.glyphs.unicode = unicode;
      const std::string text = stat_text(sweep, all, style);
      EXPECT_EQ(lines_wider_than(text, width), "") << text;
      EXPECT_TRUE(unicode || beyond_ascii(text).empty()) << text;
      EXPECT_NE(text.find("+5.1 %"), std::string::npos) << text;
      EXPECT_NE(text.find("drift"), std::string::npos);
    }
  }
}

TEST(StatText, ReportsAFigureThatNoRunHas) {
  Sweep sweep = made_sweep({.blocks = 1}, five_percent);
  for (RunRow& run : sweep.runs) run.state = RunState::kPlanned;
  const std::string text = stat_text(sweep, statistics_of(sweep, {"wall_s"}), {});
  EXPECT_NE(text.find("no successful run has wall_s"), std::string::npos) << text;
  EXPECT_NE(text.find("dry: 1 of 1 runs are still to be made"), std::string::npos) << text;
}

TEST(StatText, WarnsOfARunOrderThatHidesDrift) {
  const Sweep sweep = made_sweep({.order = Order::kSequence}, five_percent);
  const std::string text = stat_text(sweep, statistics_of(sweep, {"wall_s"}), {});
  EXPECT_NE(text.find("a drift of the machine looks like an effect"), std::string::npos) << text;
  const Sweep blocks = made_sweep({}, five_percent);
  EXPECT_EQ(stat_text(blocks, statistics_of(blocks, {"wall_s"}), {}).find("looks like an effect"), std::string::npos);
}

}  // namespace
}  // namespace mlrun::sweep
