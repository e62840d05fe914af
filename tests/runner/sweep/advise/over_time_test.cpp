// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/over_time.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

constexpr uint64_t kPage = 4096;

using Numbers = std::vector<size_t>;

// As many blocks of each site in turn as there are `turns`: one site is alive at a time. bytes(site, turn): of the block.
template <typename Bytes>
std::vector<Site> loop_of(size_t sites, int64_t turns, Bytes bytes) {
  std::vector<Site> made(sites);
  int64_t now = 0;
  for (int64_t turn = 0; turn < turns; turn++) {
    for (size_t site = 0; site < sites; site++, now += 2) made[site].lives.push_back({now, now + 1, bytes(site, turn)});
  }
  return made;
}

TEST(OverTime, BlocksThatFollowEachOtherTakeTheSameRoom) {
  std::vector<Site> sites(2);
  sites[0].lives = {{0, 10, kPage}, {10, 20, kPage}};
  sites[1].lives = {{5, 15, 2 * kPage}};
  EXPECT_EQ(most_bytes(sites), 3 * kPage);
  EXPECT_EQ(choose_over_time(sites, {1, 1}, 3 * kPage).sites, (Numbers{0, 1}));
  EXPECT_EQ(choose_over_time(sites, {1, 2}, 2 * kPage).sites, (Numbers{1}));
  EXPECT_EQ(choose_over_time(sites, {2, 1}, 2 * kPage).sites, (Numbers{0}));
}

TEST(OverTime, PhasesOfALoopThatAlternateThousandsOfTimesBothFit) {
  const std::vector<Site> sites = loop_of(2, 3000, [](size_t, int64_t) { return 3 * kPage; });
  const Chosen chosen = choose_over_time(sites, {1, 1}, 3 * kPage);
  EXPECT_EQ(chosen.sites, (Numbers{0, 1}));
  EXPECT_DOUBLE_EQ(chosen.bound, 2);
}

TEST(OverTime, PhasesWhoseSizesDifferInEachTurnFitToo) {
  const std::vector<Site> sites =
      loop_of(40, 3000, [](size_t site, int64_t turn) { return (1 + site * 7919 % 13 + turn * 31 % 997) * kPage; });
  const Chosen chosen = choose_over_time(sites, std::vector<double>(40, 1), 1010 * kPage);
  EXPECT_EQ(chosen.sites.size(), 40u);
  EXPECT_DOUBLE_EQ(chosen.bound, 40);
}

TEST(OverTime, ARarePeakLimitsTheChoice) {
  std::vector<Site> sites = loop_of(2, 100'000, [](size_t, int64_t) { return kPage; });
  sites[0].lives.push_back({3'000'000, 3'000'010, 2 * kPage});
  sites[1].lives.push_back({3'000'005, 3'000'015, 2 * kPage});
  EXPECT_EQ(choose_over_time(sites, {1, 2}, 3 * kPage).sites, (Numbers{1}));
  EXPECT_EQ(choose_over_time(sites, {1, 2}, 4 * kPage).sites, (Numbers{0, 1}));
}

TEST(OverTime, ASiteThatDoesNotFitByItselfIsInNoBound) {
  const std::vector<Site> sites = loop_of(2, 3, [](size_t site, int64_t) { return (1 + site) * kPage; });
  const Chosen chosen = choose_over_time(sites, {1, 100}, kPage);
  EXPECT_EQ(chosen.sites, (Numbers{0}));
  EXPECT_DOUBLE_EQ(chosen.bound, 1);
}

// A site for each of these sizes in pages; all are alive at once.
std::vector<Site> at_once(const std::vector<uint64_t>& pages) {
  std::vector<Site> sites(pages.size());
  for (size_t site = 0; site < sites.size(); site++) sites[site].lives = {{0, 10, pages[site] * kPage}};
  return sites;
}

TEST(OverTime, SitesThatDoNotFitTakeNoPlaceOfThoseThatDo) {
  std::vector<uint64_t> pages(250, 51);
  pages.resize(300, 1);
  std::vector<double> gains(250, 100);
  gains.resize(300, 1);
  const Chosen chosen = choose_over_time(at_once(pages), gains, 50 * kPage, 250);
  EXPECT_EQ(chosen.sites.size(), 50u);
  EXPECT_EQ(chosen.sites.front(), 250u);
  EXPECT_DOUBLE_EQ(chosen.bound, 50);
}

TEST(OverTime, TheBoundIncludesSitesThatAreNotCandidates) {
  const std::vector<Site> sites = at_once({4, 4, 1, 1});
  const Chosen chosen = choose_over_time(sites, {3, 3, 2, 2}, 4 * kPage, 2);  // 2 and 3 together would gain more
  EXPECT_DOUBLE_EQ(chosen.gain, 3);
  EXPECT_GE(chosen.bound, 4);
  EXPECT_LE(chosen.bound, 6) << "two sites gain no more";
  EXPECT_DOUBLE_EQ(
      choose_over_time(at_once(std::vector<uint64_t>(30, 1)), std::vector<double>(30, 1), 30 * kPage, 25).bound, 25);
}

// Two sites conflict if their blocks are alive at one moment.
bool fits_with(const std::vector<std::vector<bool>>& conflicts, const std::vector<size_t>& chosen, size_t site) {
  return std::none_of(chosen.begin(), chosen.end(), [&](size_t one) { return conflicts[site][one]; });
}

// Three of four pairs of sites have a moment of their own, at which only one of both fits: far more moments than the search looks at together.
TEST(OverTime, WithThousandsOfLimitingPeaksTheChoiceIsMaximal) {
  constexpr size_t kSites = 80;
  std::minstd_rand random(1);
  std::vector<Site> sites(kSites);
  std::vector<std::vector<bool>> conflicts(kSites, std::vector<bool>(kSites));
  std::vector<double> gains;
  int64_t now = 0;
  for (size_t a = 0; a < kSites; a++) {
    gains.push_back(100.0 + static_cast<double>(random() % 50));
    for (size_t b = 0; b < a; b++) {
      if (random() / 64 % 4 == 0) continue;
      for (const size_t site : {a, b}) sites[site].lives.push_back({now, now + 1, 2 * kPage});
      conflicts[a][b] = conflicts[b][a] = true;
      now += 2;
    }
  }
  ASSERT_GT(now / 2, 2000);
  const Chosen chosen = choose_over_time(sites, gains, 3 * kPage);
  EXPECT_TRUE(chosen.is_repaired);
  for (size_t site = 0; site < kSites; site++) {
    const bool is_chosen = std::count(chosen.sites.begin(), chosen.sites.end(), site) > 0;
    std::vector<size_t> others = chosen.sites;
    std::erase(others, site);
    EXPECT_EQ(fits_with(conflicts, others, site), is_chosen) << site;
  }
  std::vector<size_t> order(kSites), greedy;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  double greedy_gain = 0;
  for (const size_t site : order) {
    if (!fits_with(conflicts, greedy, site)) continue;
    greedy.push_back(site);
    greedy_gain += gains[site];
  }
  EXPECT_GE(chosen.gain, greedy_gain);
  EXPECT_GE(chosen.bound, greedy_gain);
}

TEST(OverTime, WithoutBlocksNothingIsChosen) {
  EXPECT_TRUE(choose_over_time({}, {}, 1).sites.empty());
  EXPECT_TRUE(choose_over_time(std::vector<Site>(2), {1, 1}, 1).sites.empty());
  EXPECT_EQ(most_bytes({}), 0);
}

TEST(OverTime, OtherBlocksCountInWhatIsAliveAtOnce) {
  std::vector<Site> sites(1);
  sites[0].lives = {{0, 10, kPage}};
  EXPECT_EQ(most_bytes(sites, {{5, 15, 2 * kPage}, {10, 20, kPage}}), 3 * kPage);
}

}  // namespace
}  // namespace mlrun::sweep
