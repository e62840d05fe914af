// SPDX-License-Identifier: Apache-2.0
// Which pages are sampled. What the kernel says of their nodes: t750 and tests/vm/placement.
#include "runner/placement/page_sampler.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace mlrun::placement {
namespace {

constexpr uint64_t kPage = 4096;

bool operator==(const PlacedMapping& a, const PlacedMapping& b) {
  return a.rule == b.rule && a.start == b.start && a.end == b.end;
}

// Blocks of 16 MiB by the ratio 3:1, in pieces of 48 and 16 pages. 1,024 pages of 65,536: a part is as long as a cycle, and with 64 blocks four
// times as long.
TEST(ChoosePages, HasEachSpanByItsSize) {
  for (const int blocks : {1, 16, 64}) {
    std::vector<Span> spans;
    uint64_t at = 1 << 30;
    for (int cycle = 0; cycle < blocks * 64; cycle++) {
      for (const uint64_t pages : {48, 16}) {
        spans.push_back({at, at + pages * kPage});
        at += pages * kPage;
      }
    }
    double second = 0;
    constexpr int kTimes = 20;
    for (int i = 0; i < kTimes; i++) {
      const auto pages = choose_pages(spans, 1024);
      ASSERT_EQ(pages.size(), 1024u);
      EXPECT_TRUE(std::is_sorted(pages.begin(), pages.end()));
      for (const uint64_t page : pages) second += (page - (1 << 30)) / kPage % 64 >= 48 ? 1 : 0;
    }
    EXPECT_NEAR(second / (1024.0 * kTimes), 0.25, 0.02) << blocks << " blocks";
  }
}

TEST(ChoosePages, OfAFewIsAllOfThem) {
  const auto pages = choose_pages({{kPage, 3 * kPage}, {9 * kPage, 10 * kPage}}, 1024);
  EXPECT_EQ(pages, (std::vector<uint64_t>{kPage, 2 * kPage, 9 * kPage}));
  EXPECT_TRUE(choose_pages({}, 1024).empty());
}

// 10 MiB more each second on node 1 until it is full, then on node 0.
TEST(PagesFound, BytesAreThoseOfTheFullMemory) {
  PagesFound found;
  for (uint64_t i = 1; i <= 10; i++) found.add({{1, std::min<uint64_t>(i, 8)}, {0, i > 8 ? i - 8 : 0}}, 10.0, i);
  for (int i = 0; i < 4; i++) found.add({{1, 8}, {0, 2}}, 10.0, 10);
  found.add({{1, 1}}, 10.0, 1);
  EXPECT_EQ(found.samples, 15u);
  EXPECT_EQ(found.full_samples, 6u) << "with 90 and with 100 MiB";
  EXPECT_DOUBLE_EQ(found.bytes[1], 6 * 80.0);
  EXPECT_DOUBLE_EQ(found.bytes[0], 5 * 20.0 + 10);
  EXPECT_EQ(found.resident_bytes, 5u * 10 + 9);
  EXPECT_EQ(found.sampled[1], 36u + 16 + 32 + 1);
}

TEST(Newest, CutsWhatNewerMappingsCover) {
  const auto kept = newest({{1, 40, 60}, {0, 0, 100}, {2, 50, 55}, {3, 90, 120}});
  ASSERT_EQ(kept.size(), 4u);
  EXPECT_TRUE(kept[0] == (PlacedMapping{1, 40, 60}));
  EXPECT_TRUE(kept[1] == (PlacedMapping{0, 0, 40}));
  EXPECT_TRUE(kept[2] == (PlacedMapping{0, 60, 100}));
  EXPECT_TRUE(kept[3] == (PlacedMapping{3, 100, 120}));
}

}  // namespace
}  // namespace mlrun::placement
