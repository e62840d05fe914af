// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/lanes.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace mlrun::exchange {
namespace {

struct Row {
  int64_t ts, end;
  size_t lane = 0;
};

bool overlaps(const Row& a, const Row& b) { return a.ts < b.end && b.ts < a.end; }
bool contains(const Row& a, const Row& b) { return a.ts <= b.ts && b.end <= a.end; }

std::vector<Row> random_rows(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Row> rows;
  for (int i = 0; i < 300; ++i) {
    const int64_t ts = int64_t(random() % 500);
    rows.push_back({ts, ts + int64_t(random() % 60)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.ts != b.ts ? a.ts < b.ts : a.end > b.end; });
  return rows;
}

TEST(LanesTest, RowsOfANestingLaneContainEachOtherOrDoNotOverlap) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    std::vector<Row> rows = random_rows(seed);
    NestingLanes lanes;
    size_t closed = 0;
    const auto count = [&](size_t, int64_t) { ++closed; };
    for (Row& row : rows) row.lane = lanes.place(row.ts, row.end, 0, 0, count);
    lanes.close_all(count);
    EXPECT_EQ(closed, rows.size());
    for (const Row& a : rows) {
      for (const Row& b : rows) {
        EXPECT_TRUE(a.lane != b.lane || !overlaps(a, b) || contains(a, b) || contains(b, a));
      }
    }
  }
}

TEST(LanesTest, RowsOfALaneApartDoNotOverlapAndTheLanesAreAsManyAsOverlapAtOnce) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    std::vector<Row> rows = random_rows(seed);
    ApartLanes lanes;
    for (Row& row : rows) row.lane = lanes.place(row.ts, row.end);
    size_t most = 0, used = 0;
    for (const Row& a : rows) {
      const auto at_once =
          std::count_if(rows.begin(), rows.end(), [&](const Row& b) { return b.ts <= a.ts && a.ts < b.end; });
      most = std::max(most, size_t(at_once));
      used = std::max(used, a.lane + 1);
      for (const Row& b : rows) EXPECT_TRUE(&a == &b || a.lane != b.lane || !overlaps(a, b));
    }
    EXPECT_LE(used, most + 1);  // one that takes no time may need one more
  }
}

TEST(LanesTest, ClosesTheInnermostFirstAndBeforeTheNextBegins) {
  NestingLanes lanes;
  std::vector<int64_t> ends;
  const auto closed = [&](size_t, int64_t end) { ends.push_back(end); };
  EXPECT_EQ(lanes.place(0, 100, 7, 0, closed), 0u);
  EXPECT_EQ(lanes.place(0, 100, 0, 0, closed), 0u);
  EXPECT_EQ(lanes.place(10, 50, 0, 0, closed), 0u);
  EXPECT_TRUE(lanes.has_open(20, 7));
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(lanes.place(50, 100, 0, 0, closed), 0u);
  EXPECT_EQ(ends, std::vector<int64_t>({50}));
  EXPECT_EQ(lanes.place(100, 100, 0, 0, closed), 0u);
  EXPECT_EQ(ends, std::vector<int64_t>({50, 100, 100, 100}));
  EXPECT_FALSE(lanes.has_open(100, 7));
}

TEST(LanesTest, ARowThatCrossesGoesToTheNextLane) {
  NestingLanes lanes;
  const auto closed = [](size_t, int64_t) {};
  EXPECT_EQ(lanes.place(0, 10, 0, 0, closed), 0u);
  EXPECT_EQ(lanes.place(5, 15, 0, 0, closed), 1u);
  EXPECT_EQ(lanes.place(6, 20, 0, 0, closed), 2u);
  EXPECT_EQ(lanes.place(10, 12, 0, 0, closed), 0u);
  EXPECT_EQ(lanes.place(30, 31, 0, 1, closed), 1u);
}

}  // namespace
}  // namespace mlrun::exchange
