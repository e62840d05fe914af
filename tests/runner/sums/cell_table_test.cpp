// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/cell_table.h"

#include <gtest/gtest.h>

namespace mlrun::sums {
namespace {

TEST(TimeBucket, HoldsWhatItsBoundsSay) {
  for (uint64_t ns : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{4}, uint64_t{7}, uint64_t{8}, uint64_t{9},
                      uint64_t{1000}, uint64_t{123456789}, uint64_t{1} << 40, UINT64_MAX / 2}) {
    const uint64_t index = mlrun_time_bucket(ns), low = mlrun_time_bucket_low(index);
    EXPECT_LE(low, ns);
    EXPECT_LT(ns, mlrun_time_bucket_low(index + 1));
    EXPECT_LE(index, MLRUN_TIME_BUCKETS);
    if (ns >= 4) {
      EXPECT_LE(mlrun_time_bucket_low(index + 1) - low, low / 4 + 1);
    }
  }
}

TEST(CellTable, DistinguishesByEveryFieldOfTheKey) {
  CellTable table;
  bool made = false;
  CellKey key;
  key.process = 1;
  table.at(key, made).add({});
  EXPECT_TRUE(made);
  table.at(key, made).add({});
  EXPECT_FALSE(made);
  for (CellKey other : {CellKey{2, 0, 0, 0, 0, 0, 0}, CellKey{1, 1, 0, 0, 0, 0, 0}, CellKey{1, 0, 1, 0, 0, 0, 0},
                        CellKey{1, 0, 0, 1, 0, 0, 0}, CellKey{1, 0, 0, 0, 1, 0, 0}, CellKey{1, 0, 0, 0, 0, 1, 0}}) {
    table.at(other, made).add({});
    EXPECT_TRUE(made);
  }
  EXPECT_EQ(table.cells().size(), 7u);
  EXPECT_EQ(table.cells().front().sum.calls, 2u);
}

TEST(CellTable, TimesAreOfWhatIsMeasured) {
  Cell cell;
  Measures one;
  one.ns = UINT64_MAX;
  one.first = 10;
  cell.add(one);
  cell.add(one);
  EXPECT_EQ(cell.sum.max_time, 0u);
  cell.add_time(30, 15, 40);
  cell.add_time(20, 10, 35);
  EXPECT_EQ(cell.sum.calls, 2u);
  EXPECT_EQ(cell.sum.time, 50u);
  EXPECT_EQ(cell.sum.min_time, 20u) << "not that of what was not measured";
  EXPECT_EQ(cell.sum.max_time, 30u);
  EXPECT_EQ(cell.sum.last, 40u);
  uint64_t measured = 0;
  for (const mlrun_sum_bucket& bucket : cell.times) measured += bucket.calls;
  EXPECT_EQ(measured, 2u);
}

TEST(CellTable, StaysBelowItsBoundAndKeepsTotalsTrue) {
  CellTable table;
  bool made = false;
  constexpr uint32_t kFiles = 300'000, kProcesses = 40'000;
  for (uint32_t i = 0; i < kFiles; i++) {
    CellKey key;
    key.process = 1 + i % 3;
    key.stretch = i % 7;
    key.kind = 300;
    key.file = i + 1;
    Measures one;
    one.moved = 10;
    one.ns = one.ticks = i;
    table.at(key, made).add(one);
  }
  for (uint32_t i = 0; i < kProcesses; i++) {
    CellKey key;
    key.process = 10 + i;
    key.kind = 301;
    table.at(key, made).add({});
  }
  EXPECT_LE(table.cells().size(), 2 * CellTable::kCells + CellTable::kCoarse + 16);
  uint64_t calls = 0, moved = 0, in_buckets = 0, without_detail = 0;
  for (const Cell& cell : table.cells()) {
    calls += cell.sum.calls;
    moved += cell.sum.moved;
    for (const mlrun_sum_bucket& bucket : cell.times) in_buckets += bucket.calls;
    if ((cell.sum.flags & MLRUN_SUM_NO_DETAIL) != 0) without_detail += cell.sum.calls;
  }
  EXPECT_EQ(calls, kFiles + kProcesses);
  EXPECT_EQ(moved, kFiles * 10u);
  EXPECT_EQ(in_buckets, calls);
  EXPECT_GT(without_detail, 0u);
}

}  // namespace
}  // namespace mlrun::sums
