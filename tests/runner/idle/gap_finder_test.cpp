// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/gap_finder.h"

#include <gtest/gtest.h>

namespace mlrun::idle {
namespace {

constexpr int64_t kMs = 1'000'000;

model::GpuWorkRow work(int64_t start_ms, int64_t end_ms, int32_t thread_id = 1, int32_t gpu_id = 1) {
  model::GpuWorkRow row;
  row.kind = model::GpuKind::kKernel;
  row.origin.ts_ns = start_ms * kMs;
  row.origin.proc_id = row.origin.thread_id = thread_id;
  row.dur_ns = (end_ms - start_ms) * kMs;
  row.gpu_id = gpu_id;
  return row;
}

std::vector<std::pair<int64_t, int64_t>> times(const GapFinder::Found& found) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const Gap& gap : found.gaps) all.emplace_back(gap.start_ns / kMs, gap.end_ns / kMs);
  return all;
}

using Times = std::vector<std::pair<int64_t, int64_t>>;

TEST(GapFinder, BusyIsTheUnionOfWhatRuns) {
  GapFinder finder;
  for (const auto& row : {work(10, 20), work(15, 25), work(30, 40), work(5, 45), work(60, 70)}) finder.add(row);
  EXPECT_EQ(times(finder.finish()), (Times{{45, 60}}));
}

TEST(GapFinder, AGapBelongsToTheOperationThatBeginsFirstAfterIt) {
  GapFinder finder;
  finder.add(work(0, 10, 1));
  finder.add(work(52, 60, 2));
  finder.add(work(50, 70, 3));
  const auto found = finder.finish();
  ASSERT_EQ(times(found), (Times{{10, 50}}));
  EXPECT_EQ(found.gaps[0].thread_id, 3);
}

TEST(GapFinder, GpusAreIdleEachForItself) {
  GapFinder finder;
  for (const auto& row : {work(0, 10, 1, 1), work(0, 12, 1, 2), work(20, 30, 1, 1), work(40, 50, 1, 2)})
    finder.add(row);
  EXPECT_EQ(times(finder.finish()), (Times{{10, 20}, {12, 40}}));
}

TEST(GapFinder, CommunicationAloneIsNotBusy) {
  GapFinder finder;
  finder.add(work(0, 10));
  auto talk = work(5, 40);
  talk.is_communication = true;
  finder.add(talk);
  finder.add(work(50, 60));
  const auto found = finder.finish();
  EXPECT_EQ(times(found), (Times{{10, 50}}));
  ASSERT_EQ(found.communication.at(1).size(), 1u);
  EXPECT_EQ(found.communication.at(1)[0].end_ns, 40 * kMs);
}

TEST(GapFinder, ManyGapsAreAllFoundOrCounted) {
  constexpr int64_t kCount = 100'000;
  GapFinder finder;
  for (int64_t i = 0; i < kCount; ++i) {
    model::GpuWorkRow row = work(0, 0);
    row.origin.ts_ns = i * 20'000;
    row.dur_ns = i % 2 == 0 ? 15'000 : 5'000;  // gaps of 5 and 15 us in turn
    finder.add(row);
  }
  const auto found = finder.finish();
  EXPECT_EQ(found.gaps.size(), static_cast<size_t>(kCount / 2 - 1));
  EXPECT_EQ(found.unlisted.at(1).gaps, kCount / 2);
  EXPECT_EQ(found.unlisted.at(1).time_ns, kCount / 2 * 5'000);
}

TEST(GapFinder, CallsAndWorkWithoutTimesAreNoWork) {
  GapFinder finder;
  auto call = work(0, 10);
  call.kind = model::GpuKind::kApi;
  finder.add(call);
  finder.add(work(20, 30));
  EXPECT_TRUE(finder.finish().gaps.empty());
}

}  // namespace
}  // namespace mlrun::idle
