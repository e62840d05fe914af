// SPDX-License-Identifier: Apache-2.0
// Which runs of an experiment had their memory where their rules say.
#include "runner/sweep/advise/experiment.h"

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

using Placement = model::Placement;

// One process under the rules "fast" (node 0) and "slow" (node 1). bytes: of the blocks that the first rule is about; of those it had no room for.
Placement run_with(int64_t bytes, int64_t fallback_bytes) {
  Placement run;
  run.rules.resize(2);
  run.rules[0].nodes = {0};
  run.rules[1].nodes = {1};
  Placement::Process process;
  process.rules.resize(2);
  process.rules[0].bytes = bytes;
  process.rules[0].fallback_bytes = fallback_bytes;
  process.rules[1].bytes = 100 * bytes;
  run.processes = {process};
  return run;
}

void add_pages(Placement& run, int64_t rule, int64_t node, int64_t bytes) {
  Placement::Pages pages;
  pages.rule = rule;
  pages.node = node;
  pages.bytes = bytes;
  run.processes->front().pages.push_back(pages);
}

TEST(Verified, PagesOnOtherNodesCount) {
  Placement run = run_with(1000, 0);
  EXPECT_FALSE(verified(run).share) << "no page was sampled";
  add_pages(run, 0, 0, 300);
  add_pages(run, 1, 1, 900);
  add_pages(run, 1, 0, 100);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0.9);
  EXPECT_TRUE(verified(run).is_asked);
  EXPECT_FALSE(verified(Placement()).is_asked);
}

TEST(Verified, ASmallRuleOnTheWrongNodeCountsAsMuchAsALargeOne) {
  Placement run = run_with(1000, 0);
  add_pages(run, 1, 1, 99'000);
  EXPECT_DOUBLE_EQ(*verified(run).share, 1) << "a rule for any caller without sampled pages is not judged";
  add_pages(run, 0, 1, 1000);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0) << "all pages of the fast rule are on the slow node";
}

Placement run_of_a_site(int64_t bytes) {
  Placement run = run_with(bytes, 0);
  run.rules[0].text = "size >= 65536 and site 0123456789abcdef+1 -> node 0";
  run.processes->front().rules[0].matches = bytes > 0 ? 1 : 0;
  return run;
}

TEST(Verified, ARunWhoseSiteHadNoBlockIsNotTheOneThatWasAskedFor) {
  Placement run = run_of_a_site(0);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0);
  add_pages(run, 1, 1, 99'000);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0);
  run.rules[0].nodes.clear();
  EXPECT_DOUBLE_EQ(*verified(run).share, 0) << "huge pages, too";
  run.processes.reset();
  EXPECT_DOUBLE_EQ(*verified(run).share, 0) << "no process had blocks";
}

TEST(Verified, ASiteOfWhichNoPageWasSampledLeavesTheRunUnverified) {
  Placement run = run_of_a_site(1000);
  add_pages(run, 1, 1, 99'000);
  EXPECT_TRUE(verified(run).is_asked);
  EXPECT_FALSE(verified(run).share);
  add_pages(run, 1, 0, 99'000);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0.5) << "but it is wrong by its other pages";
  Placement other = run_of_a_site(1000);
  add_pages(other, 1, 1, 99'000);
  add_pages(other, 0, 0, 1000);
  EXPECT_DOUBLE_EQ(*verified(other).share, 1);
}

TEST(Verified, BlocksThatARuleHadNoRoomForCountThoughTheyHaveNoPagesOfIt) {
  Placement run = run_with(1000, 200);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0.8) << "no page was sampled";
  add_pages(run, 0, 0, 800);
  add_pages(run, 1, 1, 100'000);
  EXPECT_DOUBLE_EQ(*verified(run).share, 0.8);
  run.rules[0].nodes.clear();
  EXPECT_DOUBLE_EQ(*verified(run).share, 0.8) << "a rule for huge pages names no nodes, but has a budget";
}

}  // namespace
}  // namespace mlrun::sweep
