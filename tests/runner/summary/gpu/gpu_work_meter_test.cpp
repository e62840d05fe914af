// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_work_meter.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

TEST(BusyTime, IsTheLengthOfTheUnion) {
  BusyTime busy;
  busy.add(10, 20);
  busy.add(15, 25);
  busy.add(30, 40);
  busy.add(5, 41);
  busy.add(50, 50);
  EXPECT_EQ(busy.ns(), 36);
}

TEST(BusyTime, AgreesWithCountingEveryNanosecondOverALongTime) {
  constexpr int64_t kMoments = 400'000;
  std::mt19937_64 random(7);
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (int i = 0; i < 30'000; ++i) {
    const auto start = static_cast<int64_t>(random() % (kMoments - 100));
    pieces.emplace_back(start + static_cast<int64_t>(random() % 20), start);  // by end
  }
  std::sort(pieces.begin(), pieces.end());
  std::vector<bool> moments(kMoments);
  BusyTime busy;
  for (const auto& [end, start] : pieces) {
    busy.add(start, end);
    std::fill(moments.begin() + start, moments.begin() + end, true);
  }
  EXPECT_EQ(busy.ns(), std::count(moments.begin(), moments.end(), true));
}

// A collective that waits for a slow rank while the kernels of the backward pass come and go.
TEST(BusyTime, IsExactForALongOneThatCoversMoreThanFit) {
  constexpr int64_t kEvery = 50, kBusy = 10, kMany = 100'000;
  for (const int64_t begins : {int64_t{0}, kEvery * kMany / 3}) {
    BusyTime busy(512);
    for (int64_t at = 0; at < kMany; ++at) busy.add(at * kEvery, at * kEvery + kBusy);
    EXPECT_EQ(busy.ns(), kMany * kBusy);
    busy.add(begins, kMany * kEvery);
    const int64_t exact = begins / kEvery * kBusy + std::min(begins % kEvery, kBusy) + kMany * kEvery - begins;
    // What was folded lies tens of milliseconds back here; kernels before the start are as dense as beyond it.
    EXPECT_NEAR(static_cast<double>(busy.ns()), static_cast<double>(exact), begins == 0 ? 0 : kEvery);
  }
}

model::GpuWorkRow longest(model::GpuKind kind) {
  model::GpuWorkRow row;
  row.kind = kind;
  row.gpu_id = 1;
  row.dur_ns = INT64_MAX / 4;
  row.bytes = INT64_MAX;
  row.detail = 1;  // from the host
  return row;
}

TEST(GpuWorkMeter, SumsOfMadeUpTimesStayAtTheLargestNumber) {
  using model::GpuKind;
  GpuWorkMeter meter;
  for (int i = 0; i < 5; ++i) {
    for (const GpuKind kind : {GpuKind::kApi, GpuKind::kSync, GpuKind::kKernel, GpuKind::kMemcpy, GpuKind::kGraph}) {
      meter.add(longest(kind));
    }
  }
  const auto devices = meter.devices({});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].kernel_ns, INT64_MAX);
  EXPECT_EQ(devices[0].copy_ns, INT64_MAX);
  EXPECT_EQ(devices[0].graph_ns, INT64_MAX);
  EXPECT_EQ(devices[0].bytes_in, INT64_MAX);
  const auto kernels = meter.kernels({});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].time_ns, INT64_MAX);
  EXPECT_EQ(meter.calls().time_ns, INT64_MAX);
  EXPECT_EQ(meter.calls().sync_ns, INT64_MAX);
}

}  // namespace
}  // namespace mlrun::summary
