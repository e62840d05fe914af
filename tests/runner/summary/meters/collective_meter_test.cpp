// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/collective_meter.h"

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

model::CollectiveRow row(int32_t proc_id, int64_t ts_ns, std::optional<int64_t> sequence,
                         const char* communicator = "0x1", std::optional<int64_t> ranks = 2) {
  model::CollectiveRow row;
  row.origin.proc_id = proc_id;
  row.origin.ts_ns = ts_ns;
  row.dur_ns = 3;
  row.operation = "AllReduce";
  row.communicator = communicator;
  row.sequence = sequence;
  row.bytes = 8;
  row.ranks = ranks;
  return row;
}

TEST(CollectiveMeter, MeasuresHowFarApartTheSameNumberBegins) {
  CollectiveMeter meter;
  for (int64_t number = 0; number < 10; ++number) {
    meter.add(row(1, number * 1000, number));
    meter.add(row(2, number * 1000 + 10 + number, number));
  }
  meter.add(row(1, 20'000, std::nullopt));
  const auto sums = meter.finish();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].count, 21);
  EXPECT_EQ(sums[0].bytes, 21 * 8);
  EXPECT_EQ(sums[0].time_ns, 63);
  EXPECT_EQ(sums[0].compared, 10);
  EXPECT_EQ(sums[0].skew_max_ns, 19);
  EXPECT_EQ(sums[0].last_proc_id, 2);
  EXPECT_EQ(sums[0].last_times, 10);
  EXPECT_EQ(meter.differing(), 0);
  EXPECT_EQ(meter.late(), 0);
}

TEST(CollectiveMeter, DoesNotCompareWhatDiffers) {
  CollectiveMeter meter;
  meter.add(row(1, 0, 0));
  auto other_size = row(2, 5, 0);
  other_size.bytes = 16;
  meter.add(other_size);
  meter.add(row(1, 10, 1));
  auto other_operation = row(2, 15, 1);
  other_operation.operation = "Broadcast";
  meter.add(other_operation);
  meter.add(row(1, 20, 2));
  meter.add(row(2, 25, 2));
  const auto sums = meter.finish();
  EXPECT_EQ(meter.differing(), 2);
  EXPECT_EQ(sums[0].compared, 1);
}

TEST(CollectiveMeter, ComparesTheSeenRanksOfAnIncompleteCommunicator) {
  CollectiveMeter meter;
  for (int64_t number = 0; number < 3000; ++number) {
    meter.add(row(1, number * 100, number, "0x1", 16));
    meter.add(row(2, number * 100 + 7, number, "0x1", std::nullopt));
  }
  EXPECT_EQ(meter.finish()[0].compared, 3000);
  EXPECT_EQ(meter.late(), 0);
}

// One of which all other ranks are on other machines fills no room but its own.
TEST(CollectiveMeter, ComparesOthersBesideAnIncompleteCommunicator) {
  CollectiveMeter meter;
  for (int64_t number = 0; number < 300'000; ++number) meter.add(row(1, number, number, "0x2", 16));
  for (int64_t number = 0; number < 100; ++number) meter.add(row(1, number * 100, number));
  for (int64_t number = 0; number < 100; ++number) meter.add(row(2, number * 100 + 7, number));
  int64_t compared = 0;
  for (const CollectiveSummary& sum : meter.finish()) compared += sum.compared;
  EXPECT_EQ(compared, 100);
  EXPECT_EQ(meter.late(), 0);
}

TEST(CollectiveMeter, CountsARankThatIsFarBehind) {
  CollectiveMeter meter;
  constexpr int64_t kAhead = 5000, kFollowed = 1024;
  for (int64_t number = 0; number < kAhead; ++number) meter.add(row(1, number, number));
  for (int64_t number = 0; number < kAhead; ++number) meter.add(row(2, kAhead + number, number));
  const auto sums = meter.finish();
  EXPECT_EQ(sums[0].compared, kFollowed);
  EXPECT_EQ(sums[0].skew_max_ns, kAhead);
  EXPECT_EQ(meter.late(), kAhead - kFollowed);
}

TEST(CollectiveMeter, TracksFewerOfEachCommunicatorWhereThereAreMany) {
  CollectiveMeter meter;
  constexpr int64_t kCommunicators = 1000, kNumbers = 400;  // a share of 262
  const auto add = [&](int32_t proc_id) {
    for (int64_t of = 0; of < kCommunicators; ++of) {
      for (int64_t number = 0; number < kNumbers; ++number) {
        meter.add(row(proc_id, number, number, std::to_string(of).c_str()));
      }
    }
  };
  add(1);
  add(2);
  int64_t compared = 0;
  for (const CollectiveSummary& sum : meter.finish()) compared += sum.compared;
  EXPECT_EQ(compared + meter.late(), kCommunicators * kNumbers);
  EXPECT_GE(compared, kCommunicators * 262);
}

}  // namespace
}  // namespace mlrun::summary
