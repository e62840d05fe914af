// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/torch_memory_meter.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

model::TorchMemoryRow allocation(uint64_t address, int64_t bytes, int32_t device = 0, int32_t proc_id = 1) {
  model::TorchMemoryRow row;
  row.origin.proc_id = proc_id;
  row.address = address;
  row.bytes = bytes;
  row.device = device;
  return row;
}

model::TorchMemoryRow release(uint64_t address, int32_t proc_id = 1) {
  model::TorchMemoryRow row;
  row.origin.proc_id = proc_id;
  row.address = address;
  row.is_release = true;
  return row;
}

TEST(TorchMemoryMeter, AReleaseIsMatchedToItsAllocation) {
  TorchMemoryMeter meter;
  auto first = allocation(16, 100, 3), second = allocation(32, 50, 3), back = release(16), unknown = release(48);
  for (auto* row : {&first, &second, &back, &unknown}) meter.add(*row);
  EXPECT_EQ(first.held_bytes, 100);
  EXPECT_EQ(second.held_bytes, 150);
  EXPECT_EQ(back.bytes, 100);
  EXPECT_EQ(back.device, 3);
  EXPECT_EQ(back.held_bytes, 50);
  EXPECT_EQ(unknown.bytes, -1);
  EXPECT_EQ(unknown.device, -1);
  const auto sums = meter.finish();
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].device, -1);
  EXPECT_EQ(sums[0].unmatched_releases, 1);
  EXPECT_EQ(sums[1].peak_bytes, 150);
  EXPECT_EQ(sums[1].kept, 1);
  EXPECT_EQ(sums[1].kept_bytes, 50);
}

TEST(TorchMemoryMeter, AnAddressIsOfItsProcessAndOfItsLastAllocation) {
  TorchMemoryMeter meter;
  auto one = allocation(16, 100), other = allocation(16, 7, 0, 2), again = allocation(16, 30),
       of_other = release(16, 2), nothing = release(0);
  for (auto* row : {&one, &other, &again, &of_other, &nothing}) meter.add(*row);
  const auto sums = meter.finish();
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].unseen_releases, 1);
  EXPECT_EQ(sums[0].releases, 0);
  EXPECT_EQ(sums[0].kept_bytes, 30);
  EXPECT_EQ(sums[0].peak_bytes, 100);
  EXPECT_EQ(sums[1].kept, 0);
}

TEST(TorchMemoryMeter, SumsOfImpossibleSizesSaturate) {
  TorchMemoryMeter meter;
  for (uint64_t i = 1; i < 4; i++) {
    auto row = allocation(i, std::numeric_limits<int64_t>::max());
    meter.add(row);
  }
  EXPECT_EQ(meter.finish()[0].allocated_bytes, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(meter.finish()[0].peak_bytes, std::numeric_limits<int64_t>::max());
}

TEST(TorchMemoryMeter, FollowsABoundedNumberOfPieces) {
  TorchMemoryMeter meter;
  for (uint64_t i = 0; i < TorchMemoryMeter::kFollowedMax + 5; ++i) {
    auto row = allocation(i + 1, 1);
    meter.add(row);
  }
  const auto sums = meter.finish();
  EXPECT_EQ(sums[0].kept, int64_t{TorchMemoryMeter::kFollowedMax});
  EXPECT_EQ(sums[0].not_followed, 5);
}

}  // namespace
}  // namespace mlrun::summary
