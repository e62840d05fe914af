// SPDX-License-Identifier: Apache-2.0
// Which placements are measured, and that all of them have the same kind of heap.
#include "runner/sweep/advise/calibrate.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "runner/sweep/advise/verdict.h"

namespace mlrun::sweep {
namespace {

constexpr uint64_t kGiB = 1 << 30;

// Sites of so many GiB, all alive at once, with weights that fall.
TraceSites sites_of(const std::vector<uint64_t>& gib) {
  TraceSites found;
  for (const uint64_t one : gib) {
    Site site;
    site.signature = "0123456789abcdef+" + std::to_string(found.sites.size());
    site.lives = {{0, 10, one * kGiB}};
    site.weight = 100 - static_cast<double>(found.sites.size());
    found.weight += site.weight;
    found.sites.push_back(site);
  }
  return found;
}

std::vector<std::string> names(const AdviseOptions& options, const TraceSites& found) {
  Advice advice;
  advice.fast = options.fast;
  advice.slow = "node 0";
  std::vector<std::string> all;
  for (const PlacedRuns& runs : calibration_runs(options, advice, found)) all.push_back(runs.name);
  return all;
}

AdviseOptions with_fast_memory(uint64_t gib) {
  AdviseOptions options;
  options.fast = "node 1";
  options.fast_bytes = gib * kGiB;
  options.spread.target = "3:1 node 0,1";
  return options;
}

using Texts = std::vector<std::string>;

TEST(CalibrationRuns, AreOfEveryPlacementAndOfTheFirstSites) {
  EXPECT_EQ(names(with_fast_memory(16), sites_of({4, 4, 4})),
            (Texts{"far", "near", "spread", "site1", "site2", "site3"}));
  EXPECT_EQ(names(with_fast_memory(0), sites_of({4})), (Texts{"far", "near", "spread", "site1"})) << "size unknown";
}

TEST(CalibrationRuns, PlacementsThatExceedTheFastMemoryAreNotRun) {
  EXPECT_EQ(names(with_fast_memory(10), sites_of({4, 12, 4})), (Texts{"far", "site1", "site3"}));
  EXPECT_EQ(names(with_fast_memory(10), sites_of({12})), (Texts{"far"}));
  TraceSites found = sites_of({4});
  found.elsewhere.lives = {{0, 10, 8 * kGiB}};
  EXPECT_EQ(names(with_fast_memory(10), found), (Texts{"far", "site1"})) << "blocks without a site are near, too";
}

Advice one_chosen_site() {
  Advice advice;
  advice.fast = "node 1";
  advice.slow = "node 0";
  advice.min_bytes = 65536;
  advice.capacity_bytes = kGiB;
  advice.signatures = {"0123456789abcdef+1"};
  advice.labels = {"allocate"};
  return advice;
}

TEST(CalibrationRuns, RulesForTheFastMemoryHaveABudgetAsThatOfTheFile) {
  Advice advice = one_chosen_site();
  for (const bool has_budget : {true, false}) {
    advice.has_budget = has_budget;
    std::vector<PlacedRuns> all = calibration_runs(with_fast_memory(16), advice, sites_of({4, 4}));
    for (const PlacedRuns& runs : trial_runs(advice, "FILE")) {
      if (runs.name != kAdvised) all.push_back(runs);
    }
    size_t rules = 0;
    for (const PlacedRuns& runs : all) {
      rules += runs.rules.size();
      for (const std::string& rule : runs.rules) {
        const bool is_slow =
            rule.find("-> node 0") != std::string::npos || rule.find("-> default") != std::string::npos;
        EXPECT_EQ(rule.find(" budget ") != std::string::npos, has_budget && !is_slow) << rule;
      }
    }
    EXPECT_EQ(rules, 7u + 3);
    const std::string file = advice_text(advice);
    EXPECT_EQ(file.find("\nbudget = \"1073741824\"\n") != std::string::npos, has_budget) << file;
    EXPECT_EQ(file.find("budget", file.find("to = \"node 0\"")), std::string::npos)
        << "slow blocks have caches: " << file;
  }
}

std::vector<std::string> trial_names(const Advice& advice) {
  std::vector<std::string> all;
  for (const PlacedRuns& runs : trial_runs(advice, "FILE")) all.push_back(runs.name);
  return all;
}

TEST(TrialRuns, EverythingIsNearOnlyIfItFits) {
  Advice advice = one_chosen_site();
  EXPECT_EQ(trial_names(advice), (Texts{"control", "far", "advised", "near"}));
  advice.prediction = Prediction{-0.1, -0.2, 0, 9, 10, 8};
  EXPECT_EQ(trial_names(advice), (Texts{"control", "far", "advised", "near"}));
  advice.prediction->near_s = 0;
  EXPECT_EQ(trial_names(advice), (Texts{"control", "far", "advised"})) << "its runs could not be used";
  advice.prediction.reset();
  advice.all_fits = false;
  EXPECT_EQ(trial_names(advice), (Texts{"control", "far", "advised"}));
  advice.prediction.reset();
  EXPECT_EQ(trial_names(advice), (Texts{"control", "far", "advised"})) << "a ranking";
}

TEST(TrialRuns, TheFileKeepsWhetherEverythingFits) {
  const std::string path = ::testing::TempDir() + "all_fits_" + std::to_string(::getpid()) + ".toml";
  Advice advice = one_chosen_site();
  advice.command.words = {"./app"};
  advice.figure = "wall";
  for (const bool all_fits : {true, false}) {
    advice.all_fits = all_fits;
    std::ofstream(path) << advice_text(advice);
    const auto read = read_advice(path);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->all_fits, all_fits);
  }
  std::remove(path.c_str());
}

TEST(AllFits, BlocksWithoutASiteNeedRoomToo) {
  TraceSites found = sites_of({4, 4});
  EXPECT_TRUE(all_fits(with_fast_memory(8), found));
  EXPECT_FALSE(all_fits(with_fast_memory(7), found));
  found.elsewhere.lives = {{0, 10, kGiB}};
  EXPECT_FALSE(all_fits(with_fast_memory(8), found));
  EXPECT_TRUE(all_fits(with_fast_memory(0), found)) << "size unknown";
}

// A run in each of these blocks.
Series runs_in(const std::vector<int32_t>& blocks, double time_s) {
  Series series;
  for (const int32_t block : blocks) series.push_back({block, block, time_s + 0.001 * block});
  return series;
}

const std::vector<int32_t> kAllBlocks = {1, 2, 3, 4, 5, 6, 7, 8};

Measured measured_runs() {
  Measured measured;
  measured.time_s = {{"far", runs_in(kAllBlocks, 10)},
                     {"near", runs_in(kAllBlocks, 6)},
                     {"site1", runs_in(kAllBlocks, 7)},
                     {"site2", runs_in(kAllBlocks, 9)}};
  return measured;
}

TEST(Measurement, WithoutNearSingleSitesAreTheCalibration) {
  Measured measured = measured_runs();
  measured.time_s.erase("near");
  const Measurement result = measurement_of(with_fast_memory(7), sites_of({4, 4}), measured);
  ASSERT_TRUE(result.calibration) << result.why_not;
  EXPECT_TRUE(result.calibration->near.empty());
  EXPECT_EQ(result.calibration->alone.size(), 2u);
  EXPECT_FALSE(result.is_spread);
}

TEST(Measurement, WithoutNearAndSitesNothingIsPredicted) {
  Measured measured = measured_runs();
  for (const char* const name : {"near", "site1", "site2"}) measured.time_s[name].resize(2);
  const Measurement result = measurement_of(with_fast_memory(16), sites_of({4, 4}), measured);
  EXPECT_FALSE(result.calibration);
  EXPECT_EQ(result.why_not, "too few runs with blocks on the fast memory can be used");
}

TEST(Measurement, TheSpreadIsTakenWhereItIsFasterThanNear) {
  Measured measured = measured_runs();
  measured.time_s["spread"] = runs_in(kAllBlocks, 5);
  const Measurement faster = measurement_of(with_fast_memory(16), sites_of({4, 4}), measured);
  EXPECT_TRUE(faster.is_spread);
  ASSERT_TRUE(faster.calibration) << faster.why_not;
  EXPECT_DOUBLE_EQ(faster.calibration->near.front().value, 5.001);
  EXPECT_TRUE(faster.calibration->alone.empty());
  measured.only_unverified = {"spread"};
  EXPECT_FALSE(measurement_of(with_fast_memory(16), sites_of({4, 4}), measured).is_spread) << "no page was sampled";
  measured.only_unverified.clear();
  measured.time_s["spread"] = runs_in(kAllBlocks, 6.5);
  EXPECT_FALSE(measurement_of(with_fast_memory(16), sites_of({4, 4}), measured).is_spread);
  measured.time_s.erase("near");
  EXPECT_FALSE(measurement_of(with_fast_memory(16), sites_of({4, 4}), measured).is_spread) << "nothing to compare with";
}

TEST(Measurement, ASiteWithRunsInOtherBlocksIsLeftOutAndTheRestIsUsed) {
  Measured measured = measured_runs();
  measured.time_s["near"] = runs_in({1, 2, 3, 4, 5, 6}, 6);
  measured.time_s["site2"] = runs_in({5, 6, 7, 8}, 9);  // two blocks with near
  const Measurement result = measurement_of(with_fast_memory(16), sites_of({4, 4}), measured);
  ASSERT_TRUE(result.calibration) << result.why_not;
  EXPECT_EQ(result.calibration->alone.size(), 1u);
  EXPECT_TRUE(result.calibration->alone.contains(0));
  EXPECT_EQ(result.without, Texts{"site2"});
  const auto said = predict(*result.calibration, {0, 1});
  ASSERT_TRUE(said) << said.error().text;
  EXPECT_EQ(said->blocks, 6);
}

TEST(Measurement, WhereNearLacksRunsTheSitesAreTheCalibration) {
  Measured measured = measured_runs();
  measured.time_s["near"] = runs_in({1, 2, 3}, 6);
  for (const char* const name : {"site1", "site2"}) measured.time_s[name] = runs_in({3, 4, 5, 6, 7, 8}, 9);
  const Measurement result = measurement_of(with_fast_memory(16), sites_of({4, 4}), measured);
  ASSERT_TRUE(result.calibration) << result.why_not;
  EXPECT_TRUE(result.calibration->near.empty());
  EXPECT_EQ(result.calibration->alone.size(), 2u);
  EXPECT_EQ(result.without, Texts{"near"});
  const auto said = predict(*result.calibration, {0, 1});
  ASSERT_TRUE(said) << said.error().text;
  EXPECT_EQ(said->blocks, 6);
}

TEST(Measurement, MeasuredSitesThatAreLeftOutAreNamed) {
  Measured measured = measured_runs();
  const auto without = [&](uint64_t fast_gib) {
    return measurement_of(with_fast_memory(fast_gib), sites_of({4, 4}), measured).without;
  };
  EXPECT_EQ(without(16), Texts{});
  for (const char* const name : {"near", "site2"}) measured.time_s[name].resize(2);
  EXPECT_EQ(without(16), (Texts{"near", "site2"}));
  EXPECT_EQ(without(7), Texts{"site2"}) << "near was not run";
}

TEST(Measurement, TooFewBlocksWithFarGiveNoPrediction) {
  Measured measured = measured_runs();
  measured.time_s["far"] = runs_in({1, 2}, 10);
  const Measurement result = measurement_of(with_fast_memory(16), sites_of({4, 4}), measured);
  EXPECT_FALSE(result.calibration);
  EXPECT_TRUE(result.without.empty());
  EXPECT_NE(result.why_not.find("only 2 blocks"), std::string::npos) << result.why_not;
}

TEST(Calibrate, WhereNoPlacementWithFastMemoryFitsNothingIsRun) {
  Advice advice = one_chosen_site();
  const auto result = calibrate(with_fast_memory(3), advice, sites_of({4, 4}));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_FALSE(result->calibration);
  EXPECT_EQ(result->why_not, "neither all blocks nor those of a large site fit on node 1");
}

}  // namespace
}  // namespace mlrun::sweep
