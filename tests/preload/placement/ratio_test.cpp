// SPDX-License-Identifier: Apache-2.0
// Where a ratio cuts: the shares, and that huge pages stay whole.
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "preload/placement/ratio.h"
}

namespace mlrun::preload_test {
namespace {

constexpr uint64_t kFirst = uint64_t{1} << 30;  // a multiple of a huge page

struct Pieces {
  std::vector<uint64_t> ends;
  std::vector<uint64_t> pages;  // by share, in all
};

Pieces pieces_of(const ratio_cut& cut, const std::vector<uint64_t>& shares) {
  Pieces result;
  result.pages.resize(shares.size());
  uint64_t given = 0, from = 0;
  for (uint64_t cycle = 0; cycle < cut.cycles; cycle++) {
    for (size_t i = 0; i < shares.size(); i++) {
      const uint64_t end = ratio_end(&cut, given += shares[i]);
      EXPECT_GE(end, from);
      result.pages[i] += end - from;
      result.ends.push_back(from = end);
    }
  }
  EXPECT_EQ(from, cut.pages);
  return result;
}

TEST(Ratio, SharesAreExactToAPage) {
  const Pieces pieces = pieces_of(cut_by_ratio(kFirst + 3, 4096, 4, false, false), {3, 1});
  EXPECT_EQ(pieces.pages, (std::vector<uint64_t>{3072, 1024}));
  EXPECT_EQ(pieces.ends.size(), 128u);
  EXPECT_EQ(pieces_of(cut_by_ratio(kFirst, 5, 4, false, false), {3, 1}).ends, (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(cut_by_ratio(kFirst, 4096, 4, false, true).cycles, 1u);
}

TEST(Ratio, PiecesOfAHugeBlockAreWholeHugePages) {
  const uint64_t pages = 100 * kHugePages + 7;
  const Pieces pieces = pieces_of(cut_by_ratio(kFirst, pages, 4, true, false), {3, 1});
  for (const uint64_t end : pieces.ends) EXPECT_TRUE(end % kHugePages == 0 || end == pages) << end;
  EXPECT_EQ(pieces.pages, (std::vector<uint64_t>{75 * kHugePages, 25 * kHugePages + 7}));
}

TEST(Ratio, PiecesOfAMappingEndAtHugePagesOfTheAddressSpace) {
  const uint64_t first = kFirst + 100, pages = 64 * kHugePages;
  const Pieces pieces = pieces_of(cut_by_ratio(first, pages, 2, true, false), {1, 1});
  for (const uint64_t end : pieces.ends) EXPECT_TRUE((first + end) % kHugePages == 0 || end == pages) << end;
  EXPECT_NEAR(static_cast<double>(pieces.pages[0]), pages / 2.0, kHugePages);
}

TEST(Ratio, BlocksBelowACycleOfHugePagesKeepTheirShares) {
  const Pieces pieces = pieces_of(cut_by_ratio(kFirst, 2 * kHugePages, 4, true, false), {3, 1});
  EXPECT_EQ(pieces.ends, (std::vector<uint64_t>{768, 1024})) << "one huge page of two stays whole";
}

}  // namespace
}  // namespace mlrun::preload_test
