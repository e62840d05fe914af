// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/slow_runs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/runner/sweep/statistics/simulation.h"

namespace mlrun::sweep {
namespace {

using Indices = std::vector<size_t>;

std::vector<double> times(Simulation& simulation, Noise noise, int n) {
  std::vector<double> values = simulation.logarithms(noise, n);
  for (double& value : values) value = std::exp(value);
  return values;
}

TEST(RunsOutside, AreRareInQuietNoise) {
  for (const int n : {5, 8, 10, 20, 50}) {
    Simulation simulation(1);
    int with_one = 0;
    for (int i = 0; i < 2000; ++i) with_one += runs_outside(times(simulation, Noise::kNormal, n)).empty() ? 0 : 1;
    EXPECT_LE(with_one, 60) << n;  // 3 %
  }
}

TEST(RunsOutside, ThreeSlowRunsOfTenDoNotHideEachOther) {
  Simulation simulation(1);
  int found = 0, same_found = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values = times(simulation, Noise::kNormal, 10);
    values[2] *= 1.3, values[6] *= 1.5, values[7] *= 2;
    found += runs_outside(values) == Indices{2, 6, 7} ? 1 : 0;
    values = times(simulation, Noise::kNormal, 10);
    for (const size_t run : {0, 1, 2}) values[run] *= 1.3;
    same_found += runs_outside(values) == Indices{0, 1, 2} ? 1 : 0;
  }
  EXPECT_GE(found, 970);
  EXPECT_GE(same_found, 970);
}

TEST(RunsOutside, NeedFiveRunsAndTwoPercent) {
  EXPECT_EQ(runs_outside(std::vector<double>{10, 10.01, 10.02, 30}), Indices{});
  EXPECT_EQ(runs_outside(std::vector<double>{10, 10.01, 10.02, 30, 10.015}), Indices{3});
  EXPECT_EQ(runs_outside(std::vector<double>{10, 10, 10, 10.1, 10}), Indices{});
  EXPECT_EQ(runs_outside(std::vector<double>{10, 10, 10, 10.3, 10}), Indices{3});
  EXPECT_EQ(runs_outside(std::vector<double>(9, 10)), Indices{});
  EXPECT_EQ(runs_outside({}), Indices{});
}

// A training of 10 s on an idle machine.
RunFigures quiet_run(Simulation& simulation) {
  const auto some = [&](double from, double to) {
    return std::uniform_real_distribution<>(from, to)(simulation.random());
  };
  RunFigures run;
  run.wall_s = times(simulation, Noise::kNormal, 1).front();
  run.figures = {{"steal_share", some(0, 0.01)},
                 {"other_cpu_share", some(0.005, 0.03)},
                 {"load_1m", some(1, 3)},
                 {"stall_cpu_some_share", some(0.05, 0.1)},
                 {"stall_io_some_share", some(0.01, 0.05)},
                 {"iowait_share", some(0.01, 0.03)},
                 {"io_s", some(0.8, 1)},
                 {"read_bytes", some(10e6, 12e6)},
                 {"missing_bytes", some(10e6, 12e6)},
                 {"input_blocks", std::round(some(20000, 24000))},
                 {"major_faults", std::round(some(0, 5))},
                 {"memory_available_bytes", some(5e9, 6e9)},
                 {"frequency_hz", some(2.95e9, 3e9)},
                 {"user_s", run.wall_s * 0.8}};
  return run;
}

using Disturb = void (*)(RunFigures&);

struct Disturbance {
  const char* figure;  // that must be named first
  Disturb disturb;
};

const Disturbance kDisturbances[] = {
    {"other_cpu_share",  // a program that computes
     [](RunFigures& run) {
       run.wall_s *= 1.6;
       run.figures["other_cpu_share"] += 0.45;
       run.figures["stall_cpu_some_share"] += 0.7;
       run.figures["load_1m"] += 1;
       run.figures["io_s"] += 2;
       run.figures["read_bytes"] += 20000;
     }},
    {"other_cpu_share",  // the same, pinned to the one of 16 CPUs that the command needs
     [](RunFigures& run) {
       run.wall_s *= 2;
       run.figures["other_cpu_share"] += 0.08;
       run.figures["load_1m"] += 1;
     }},
    {"steal_share",
     [](RunFigures& run) {
       run.wall_s *= 1.3;
       run.figures["steal_share"] += 0.2;
     }},
    {"stall_io_some_share",  // a slow disk
     [](RunFigures& run) {
       run.wall_s += 4;
       run.figures["stall_io_some_share"] += 0.28;
       run.figures["iowait_share"] += 0.14;
       run.figures["io_s"] += 8;
     }},
    {"missing_bytes",  // a page cache that was emptied
     [](RunFigures& run) {
       run.wall_s += 3;
       run.figures["missing_bytes"] += 1e9;
       run.figures["read_bytes"] += 1e9;
       run.figures["input_blocks"] += 2e6;
       run.figures["stall_io_some_share"] += 0.23;
       run.figures["iowait_share"] += 0.14;
       run.figures["io_s"] += 3;
     }},
    {"frequency_hz",
     [](RunFigures& run) {
       run.wall_s *= 1.25;
       run.figures["frequency_hz"] *= 0.78;
     }},
    {"major_faults",  // short of memory
     [](RunFigures& run) {
       run.wall_s *= 1.4;
       run.figures["major_faults"] += 5000;
       run.figures["stall_memory_some_share"] = 0.2;
       run.figures["memory_available_bytes"] /= 3;
     }},
};

TEST(ExplainRuns, NamesTheCauseThatSlowedThreeOfTenRuns) {
  for (const Disturbance& disturbance : kDisturbances) {
    SCOPED_TRACE(disturbance.figure);
    Simulation simulation(1);
    int right = 0;
    constexpr int kTries = 300;
    for (int i = 0; i < kTries; ++i) {
      std::vector<RunFigures> runs;
      for (int run = 0; run < 10; ++run) runs.push_back(quiet_run(simulation));
      for (const size_t run : {1, 4, 8}) disturbance.disturb(runs[run]);
      const std::vector<OutsideRun> outside = explain_runs(runs);
      const bool are_all =
          outside.size() == 3 && std::all_of(outside.begin(), outside.end(), [&](const OutsideRun& run) {
            return run.run % 3 != 0 && !run.hints.empty() && run.hints[0].figure == disturbance.figure;
          });
      right += are_all ? 1 : 0;
    }
    EXPECT_GE(right, kTries * 95 / 100);
  }
}

TEST(ExplainRuns, GivesTheNumbersOfARunAndOfTheOthers) {
  std::vector<RunFigures> runs(6, {10, {{"steal_share", 0.01}, {"read_bytes", 1000}}});
  for (size_t run = 0; run < runs.size(); ++run) runs[run].wall_s += 0.01 * static_cast<double>(run);
  runs[3] = {20, {{"steal_share", 0.41}, {"read_bytes", 1000}}};
  const std::vector<OutsideRun> outside = explain_runs(runs);
  ASSERT_EQ(outside.size(), 1);
  EXPECT_EQ(outside[0].run, 3);
  EXPECT_NEAR(outside[0].usual_s, 10.02, 1e-9);
  EXPECT_NEAR(outside[0].difference, 20 / 10.02 - 1, 1e-9);
  ASSERT_EQ(outside[0].hints.size(), 1);
  EXPECT_EQ(outside[0].hints[0].figure, "steal_share");
  EXPECT_EQ(outside[0].hints[0].value, 0.41);
  EXPECT_EQ(outside[0].hints[0].usual, 0.01);
  EXPECT_NEAR(outside[0].hints[0].weight, 0.4 * 20 / 9.98, 1e-9);
}

TEST(ExplainRuns, ARunThatWasFastIsNotExplainedByWhatSlowsRuns) {
  std::vector<RunFigures> runs(8, {10, {{"read_bytes", 1e9}, {"steal_share", 0.01}}});
  for (size_t run = 0; run < runs.size(); ++run) runs[run].wall_s += 0.01 * static_cast<double>(run);
  runs[5] = {4, {{"read_bytes", 0}, {"steal_share", 0.5}}};
  const std::vector<OutsideRun> outside = explain_runs(runs);
  ASSERT_EQ(outside.size(), 1);
  EXPECT_LT(outside[0].difference, -0.5);
  ASSERT_EQ(outside[0].hints.size(), 1);
  EXPECT_EQ(outside[0].hints[0].figure, "read_bytes");
}

}  // namespace
}  // namespace mlrun::sweep
