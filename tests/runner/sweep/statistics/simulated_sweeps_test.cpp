// SPDX-License-Identifier: Apache-2.0
// Verdicts hold up: 2,000 simulated sweeps for each kind of noise and number of runs, whose truth is known. Prints its figures as the
// rows of a table.
#include <cstdio>

#include <gtest/gtest.h>

#include "tests/runner/sweep/statistics/simulation.h"

namespace mlrun::sweep {
namespace {

constexpr int kSweeps = 2000;

double percent(int count) { return 100.0 * count / kSweeps; }

class SimulatedSweeps : public testing::TestWithParam<Noise> {};

TEST_P(SimulatedSweeps, IntervalsContainTheTruthAndVerdictsAreRight) {
  for (const int n : {3, 5, 10, 20}) {
    SCOPED_TRACE(n);
    Simulation simulation(20'261'126 + static_cast<uint64_t>(n));
    int contained = 0, cried_wolf = 0, wrongly_equal = 0;
    for (int i = 0; i < kSweeps; ++i) {
      const auto [a, b] = simulation.sweep(GetParam(), n, 0);
      const Comparison null = compare(a, b, {});
      EXPECT_EQ(null.method, Method::kPairedLogT);
      contained += null.low <= 0 && null.high >= 0 ? 1 : 0;
      cried_wolf += null.verdict == Verdict::kDiffers ? 1 : 0;
      // A difference of exactly the margin is the hardest to tell from an equal one.
      const auto [base, slower] = simulation.sweep(GetParam(), n, i % 2 == 0 ? 0.03 : -0.03);
      wrongly_equal += compare(base, slower, {.margin = 0.03}).verdict == Verdict::kEqual ? 1 : 0;
    }
    std::printf("| %s, n = %d | %.1f | %.1f | %.1f |\n", noise_name(GetParam()), n, percent(contained),
                percent(cried_wolf), percent(wrongly_equal));
    EXPECT_GE(percent(contained), 93.5);
    EXPECT_LE(percent(contained), 98.5);
    EXPECT_LE(percent(cried_wolf), 7);
    EXPECT_LE(percent(wrongly_equal), 5);
  }
}

INSTANTIATE_TEST_SUITE_P(AllNoises, SimulatedSweeps, testing::ValuesIn(kNoises),
                         [](const auto& info) { return std::string(noise_name(info.param)); });

int count_differing(Simulation& simulation, Noise noise, double effect, RunOrder order) {
  int differing = 0;
  for (int i = 0; i < kSweeps; ++i) {
    const auto [a, b] = simulation.sweep(noise, 10, effect, order);
    differing += compare(a, b, {.by_block = order == RunOrder::kBlocks}).verdict == Verdict::kDiffers ? 1 : 0;
  }
  return differing;
}

TEST(SimulatedPower, FindsThreePercentInTenRunsWithTwoPercentNoise) {
  Simulation simulation(1);
  const double found = percent(count_differing(simulation, Noise::kNormal, 0.03, RunOrder::kBlocks));
  std::printf("a true 3 %%, n = 10: found in %.1f %%\n", found);
  EXPECT_GE(found, 80);
}

TEST(SimulatedOrder, SequentialRunsGiveFalseAlarmsOnADriftingMachineAndBlocksDoNot) {
  Simulation simulation(2);
  const double sequence = percent(count_differing(simulation, Noise::kDrifting, 0, RunOrder::kSequence));
  const double blocks = percent(count_differing(simulation, Noise::kDrifting, 0, RunOrder::kBlocks));
  std::printf("a drifting machine, n = 10: cries wolf in %.1f %% in sequence, in %.1f %% in blocks\n", sequence,
              blocks);
  EXPECT_GE(sequence, 30);
  EXPECT_LE(blocks, 7);
}

TEST(SimulatedQuestion, FiveFiguresGiveFalseAlarmsAsRarelyAsOne) {
  Simulation simulation(3);
  int wolves = 0, corrected_wolves = 0;
  for (int i = 0; i < kSweeps; ++i) {
    std::vector<Comparison> question;
    for (int figure = 0; figure < 5; ++figure) {
      const auto [a, b] = simulation.sweep(Noise::kNormal, 10, 0);
      question.push_back(compare(a, b, {}));
    }
    const auto cries = [&] {
      return std::any_of(question.begin(), question.end(), [](auto& one) { return one.verdict == Verdict::kDiffers; });
    };
    wolves += cries() ? 1 : 0;
    correct_for_number(question);
    corrected_wolves += cries() ? 1 : 0;
  }
  EXPECT_GE(percent(wolves), 15);
  EXPECT_LE(percent(corrected_wolves), 7);
}

TEST(SimulatedNeed, TheNumberOfFurtherRunsThatItNamesMostlyGivesAVerdict) {
  Simulation simulation(4);
  int asked = 0, decided = 0;
  while (asked < 500) {
    const auto [a, b] = simulation.sweep(Noise::kNormal, 5, 0.01);
    const Comparison first = compare(a, b, {});
    if (first.verdict != Verdict::kCannotTell) continue;
    ASSERT_TRUE(first.needs_runs.has_value());
    ASSERT_GE(*first.needs_runs, 1);
    ++asked;
    const auto [more_a, more_b] =
        simulation.sweep(Noise::kNormal, 5 + static_cast<int>(std::min<int64_t>(*first.needs_runs, 500)), 0.01);
    decided += compare(more_a, more_b, {}).verdict != Verdict::kCannotTell ? 1 : 0;
  }
  std::printf("as many more runs as were asked for gave a verdict in %.0f %%\n", decided / 5.0);
  EXPECT_GE(decided / 5.0, 60);
}

// Runs one at a time until the interval is within 1 %.
TEST(SimulatedStopRule, KeepsTheCoverageFromEightRunsOn) {
  const auto covered = [](int at_least) {
    Simulation simulation(5);
    int count = 0;
    for (int i = 0; i < kSweeps; ++i) {
      Series series;
      do {
        series.push_back({0, 0, std::exp(simulation.logarithms(Noise::kNormal, 1).front())});
      } while (series.size() < 60 && !is_within(series, 0.01, at_least));
      const Interval interval = *describe(series).interval;
      count += interval.low <= 10 && interval.high >= 10 ? 1 : 0;
    }
    return percent(count);
  };
  const double from_three = covered(3);
  const double from_eight = covered(8);
  std::printf("stopped within 1 %%: covered %.1f %% from 3 runs on, %.1f %% from 8 on\n", from_three, from_eight);
  EXPECT_LE(from_three, 91.5);
  EXPECT_GE(from_eight, 92);
}

}  // namespace
}  // namespace mlrun::sweep
