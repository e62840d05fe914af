// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/phase_meter.h"

#include <utility>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

model::PhaseRow phase(const char* name, int64_t start_ns, int64_t end_ns, int32_t proc_id) {
  model::PhaseRow row;
  row.name = name;
  row.ts_ns = start_ns;
  row.dur_ns = end_ns - start_ns;
  row.proc_id = proc_id;
  return row;
}

std::vector<model::ProcessRow> two_ranks_with_a_worker_each() {
  std::vector<model::ProcessRow> rows(5);
  const int32_t parents[] = {0, 1, 1, 2, 3};
  for (int32_t i = 0; i < 5; ++i) {
    rows[size_t(i)].proc_id = i + 1;
    rows[size_t(i)].parent_proc_id = parents[i];
    rows[size_t(i)].first_ns = i;
  }
  return rows;
}

TEST(PhaseMeterTest, CountsACallWhereItEnds) {
  PhaseMeter meter({phase("a", 100, 200, 0), phase("b", 200, 300, 0)});
  meter.add(1, 99, 5, 1, 0);
  meter.add(1, 100, 50, 2, 0);
  meter.add(1, 199, 5, 4, 0);
  meter.add(1, 200, 150, 8, 0);
  meter.add(1, 300, 5, 16, 0);
  const auto phases = meter.finish(ProcessTree({}));
  EXPECT_EQ(phases[0].bytes_read, 6);
  EXPECT_EQ(phases[0].calls, 2);
  EXPECT_EQ(phases[0].io_ns, 55);
  EXPECT_EQ(phases[1].bytes_read, 8);
}

TEST(PhaseMeterTest, CountsInAllPhasesThatOverlap) {
  PhaseMeter meter({phase("epoch", 0, 100, 0), phase("eval", 40, 60, 0), phase("run", 0, 1000, 0)});
  meter.add(1, 50, 1, 0, 10);
  meter.add(1, 70, 1, 0, 1);
  meter.add(1, 500, 1, 0, 100);
  const auto phases = meter.finish(ProcessTree({}));
  EXPECT_EQ(phases[0].name, "run");  // by start, longer first
  EXPECT_EQ(phases[0].bytes_written, 111);
  EXPECT_EQ(phases[1].name, "epoch");
  EXPECT_EQ(phases[1].bytes_written, 11);
  EXPECT_EQ(phases[2].bytes_written, 10);
}

TEST(PhaseMeterTest, GivesEachRankItsOwnProcesses) {
  PhaseMeter meter({phase("epoch 1", 0, 100, 2), phase("epoch 1", 5, 90, 3), phase("all", 0, 100, 0)});
  meter.add(2, 10, 1, 1, 0);
  meter.add(4, 11, 1, 2, 0);
  meter.add(3, 12, 1, 4, 0);
  meter.add(5, 13, 1, 8, 0);
  meter.add(1, 14, 1, 16, 0);
  const auto phases = meter.finish(ProcessTree(two_ranks_with_a_worker_each()));
  EXPECT_EQ(phases[0].proc_id, 2);
  EXPECT_EQ(phases[0].bytes_read, 3);
  EXPECT_EQ(phases[1].name, "all");
  EXPECT_EQ(phases[1].bytes_read, 31);
  EXPECT_EQ(phases[2].bytes_read, 12);
}

TEST(PhaseMeterTest, TakesCallsOutOfOrder) {
  PhaseMeter meter({phase("a", 100, 200, 0), phase("b", 300, 400, 0)});
  for (const int64_t end : {350, 150, 250, 399, 50, 100}) meter.add(1, end, 1, 1, 0);
  const auto phases = meter.finish(ProcessTree({}));
  EXPECT_EQ(phases[0].calls, 2);
  EXPECT_EQ(phases[1].calls, 2);
}

TEST(PhaseMeterTest, ABoundMayBeSetLaterWithinItsWindow) {
  PhaseMeter meter({phase("a", 100, 210, 0), phase("b", 210, 310, 0)}, {{100, 110}, {200, 210}, {300, 310}});
  const int64_t ends[] = {99, 104, 105, 150, 203, 204, 250, 308, 309, 400};
  int64_t bit = 1;
  for (const int64_t end : ends) meter.add(1, end, 1, std::exchange(bit, bit * 2), 0);
  meter.settle({phase("a", 105, 204, 0), phase("b", 204, 309, 0)});
  const auto phases = meter.finish(ProcessTree({}));
  EXPECT_EQ(phases[0].bytes_read, 4 + 8 + 16);
  EXPECT_EQ(phases[1].bytes_read, 32 + 64 + 128);
}

TEST(PhaseMeterTest, WithoutANewBoundAWindowBelongsToItsPhase) {
  PhaseMeter meter({phase("a", 100, 210, 0)}, {{100, 110}, {200, 210}});
  for (const int64_t end : {99, 100, 205, 209, 210}) meter.add(1, end, 1, 1, 0);
  meter.settle({phase("a", 100, 210, 0)});
  EXPECT_EQ(meter.finish(ProcessTree({}))[0].calls, 3);
}

}  // namespace
}  // namespace mlrun::summary
