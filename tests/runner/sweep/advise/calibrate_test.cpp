// SPDX-License-Identifier: Apache-2.0
// Which placements are measured, and that all of them have the same kind of heap.
#include "runner/sweep/advise/calibrate.h"

#include <gtest/gtest.h>

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

TEST(CalibrationRuns, EverythingAndTheFirstSites) {
  EXPECT_EQ(names(with_fast_memory(16), sites_of({4, 4, 4})),
            (Texts{"far", "near", "spread", "site1", "site2", "site3"}));
  EXPECT_EQ(names(with_fast_memory(0), sites_of({4})), (Texts{"far", "near", "spread", "site1"})) << "size unknown";
}

TEST(CalibrationRuns, WhatTheFastMemoryHasNoRoomForIsNotRun) {
  EXPECT_EQ(names(with_fast_memory(10), sites_of({4, 12, 4})), (Texts{"far", "site1", "site3"}));
  EXPECT_EQ(names(with_fast_memory(10), sites_of({12})), (Texts{"far"}));
  TraceSites found = sites_of({4});
  found.elsewhere.lives = {{0, 10, 8 * kGiB}};
  EXPECT_EQ(names(with_fast_memory(10), found), (Texts{"far", "site1"})) << "blocks without a site are near, too";
}

TEST(CalibrationRuns, AllRulesHaveABudgetOrNone) {
  Advice advice;
  advice.fast = "node 1";
  advice.slow = "node 0";
  advice.min_bytes = 65536;
  advice.capacity_bytes = kGiB;
  advice.signatures = {"0123456789abcdef+1"};
  advice.labels = {"allocate"};
  for (const bool has_budget : {true, false}) {
    advice.has_budget = has_budget;
    size_t rules = 0, budgets = 0;
    for (const PlacedRuns& runs : calibration_runs(with_fast_memory(16), advice, sites_of({4, 4}))) {
      rules += runs.rules.size();
      for (const std::string& rule : runs.rules) budgets += rule.find(" budget ") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(rules, 7u);
    EXPECT_EQ(budgets, has_budget ? rules : 0);
    const std::string file = advice_text(advice);
    size_t in_file = 0;
    for (size_t at = file.find("\nbudget = "); at != std::string::npos; at = file.find("\nbudget = ", at + 1))
      in_file++;
    EXPECT_EQ(in_file, has_budget ? 2u : 0u) << file;
  }
}

}  // namespace
}  // namespace mlrun::sweep
