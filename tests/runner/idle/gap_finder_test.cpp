// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/gap_finder.h"

#include <gtest/gtest.h>

namespace mlrun::idle {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

model::GpuWorkRow work(int64_t start_ms, int64_t end_ms, int32_t thread_id = 1, int32_t gpu_id = 1) {
  model::GpuWorkRow row;
  row.kind = model::GpuKind::kKernel;
  row.origin.ts_ns = start_ms * kMillisecond;
  row.origin.proc_id = row.origin.thread_id = thread_id;
  row.dur_ns = (end_ms - start_ms) * kMillisecond;
  row.gpu_id = gpu_id;
  return row;
}

std::vector<std::pair<int64_t, int64_t>> times(const GapFinder::Found& found) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const Gap& gap : found.gaps) all.emplace_back(gap.start_ns / kMillisecond, gap.end_ns / kMillisecond);
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
  EXPECT_EQ(found.communication.at(1)[0].end_ns, 40 * kMillisecond);
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

// What was idle and what was busy between the first operation and the last.
int64_t idle_ns(const GapFinder::Found& found) {
  int64_t sum_ns = 0;
  for (const Gap& gap : found.gaps) sum_ns += gap.end_ns - gap.start_ns;
  for (const auto& [gpu_id, unlisted] : found.unlisted) sum_ns += unlisted.time_ns;
  for (const auto& [gpu_id, unlisted] : found.beyond) sum_ns += unlisted.time_ns;
  return sum_ns;
}

model::GpuWorkRow copy(int64_t start_ns, int64_t dur_ns) {
  model::GpuWorkRow row = work(0, 0);
  row.origin.ts_ns = start_ns;
  row.dur_ns = dur_ns;
  return row;
}

TEST(GapFinder, ALongKernelRecordedAfterManyCopiesRemovesTheirGaps) {
  constexpr int64_t kCopies = 50'000, kEvery = 30'000;
  for (const int64_t start_ns : {20 * kEvery + 5'000, 20 * kEvery + 15'000, int64_t{-7'000}}) {
    GapFinder finder;
    finder.add(work(0, 10, 1, 2));  // another GPU
    for (int64_t i = 0; i < kCopies; ++i) {
      finder.add(copy(i * kEvery, 6'000));
      finder.add(copy(i * kEvery + 10'000, 5'000));  // gaps of 4 and 15 us in turn
    }
    model::GpuWorkRow kernel = copy(start_ns, kCopies * kEvery - start_ns);
    kernel.origin.thread_id = 7;
    finder.add(kernel);
    finder.add(work(2'000, 2'001, 9));
    finder.add(work(2'005, 2'006, 1, 2));
    const auto found = finder.finish();
    const bool inside_a_gap = start_ns == 20 * kEvery + 15'000;  // the kernel begins as a copy ends
    const int64_t before = start_ns < 0 ? 0 : 20, expected_ns = before * 19'000 + (inside_a_gap ? 4'000 : 0);
    EXPECT_EQ(idle_ns(found), expected_ns + 2'000 * kMillisecond - kCopies * kEvery + 1'995 * kMillisecond) << start_ns;
    EXPECT_EQ(found.gaps.size(), static_cast<size_t>(before) + 2);
    EXPECT_EQ(found.not_taken_back, 0);
  }
}

TEST(GapFinder, ALongKernelEndsTheGapInWhichItBegins) {
  GapFinder finder;
  for (int64_t i = 0; i < 20'000; ++i) finder.add(copy(i * 30'000, 5'000));  // gaps of 25 us
  model::GpuWorkRow kernel = copy(5 * 30'000 + 17'000, 20'000 * 30'000);
  kernel.origin.thread_id = 7;
  finder.add(kernel);
  const auto found = finder.finish();
  ASSERT_EQ(found.gaps.size(), 6u);
  EXPECT_EQ(found.gaps[5].start_ns, 5 * 30'000 + 5'000);
  EXPECT_EQ(found.gaps[5].end_ns, 5 * 30'000 + 17'000);
  EXPECT_EQ(found.gaps[5].thread_id, 7);
}

TEST(GapFinder, GapsForWhichThereIsNoRoomAreCountedApartFromShortOnes) {
  constexpr int64_t kEvery = 20'000, kMore = 1000, kCount = static_cast<int64_t>(kGapsMax) + kMore;
  GapFinder finder;
  for (int64_t i = 0; i <= kCount; ++i) finder.add(copy(i * kEvery, 5'000));
  auto found = finder.finish();
  EXPECT_EQ(found.gaps.size(), kGapsMax);
  EXPECT_TRUE(found.unlisted.empty());
  EXPECT_EQ(found.beyond.at(1).gaps, kMore);
  EXPECT_EQ(found.beyond.at(1).time_ns, kMore * 15'000);
  EXPECT_EQ(found.beyond.at(1).from_ns, static_cast<int64_t>(kGapsMax) * kEvery + 5'000);
}

TEST(GapFinder, ShortGapsThatCannotBeTakenBackAreReported) {
  constexpr int64_t kEvery = 8'000, kCount = static_cast<int64_t>(kShortMax) + 20'000;
  GapFinder finder;
  for (int64_t i = 0; i < kCount; ++i) finder.add(copy(i * kEvery, 5'000));
  finder.add(copy((kCount - 10'000) * kEvery, 10'000 * kEvery));  // this one can take back
  finder.add(copy(1, kCount * kEvery));
  const auto found = finder.finish();
  EXPECT_EQ(found.not_taken_back, 1);
  EXPECT_TRUE(found.gaps.empty());
}

TEST(GapFinder, CommunicationForWhichThereIsNoRoomIsCounted) {
  GapFinder finder;
  for (int64_t i = 0; i < static_cast<int64_t>(kTalksMax) + 3; ++i) {
    auto talk = copy(i * 20'000, 5'000);
    talk.is_communication = true;
    finder.add(talk);
  }
  const auto found = finder.finish();
  EXPECT_EQ(found.communication.at(1).size(), kTalksMax);
  EXPECT_EQ(found.talks_left_out, 3);
}

TEST(GapFinder, CallsAndWorkWithoutTimesAreIgnored) {
  GapFinder finder;
  auto call = work(0, 10);
  call.kind = model::GpuKind::kApi;
  finder.add(call);
  finder.add(work(20, 30));
  EXPECT_TRUE(finder.finish().gaps.empty());
}

}  // namespace
}  // namespace mlrun::idle
