// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/over_time.h"

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

TEST(OverTime, SoDoPhasesWhoseSizesDifferInEachTurn) {
  const std::vector<Site> sites =
      loop_of(40, 3000, [](size_t site, int64_t turn) { return (1 + site * 7919 % 13 + turn * 31 % 997) * kPage; });
  const Chosen chosen = choose_over_time(sites, std::vector<double>(40, 1), 1010 * kPage);
  EXPECT_EQ(chosen.sites.size(), 40u);
  EXPECT_DOUBLE_EQ(chosen.bound, 40);
}

TEST(OverTime, AMomentThatComesOnceInManyLimitsTheChoice) {
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
