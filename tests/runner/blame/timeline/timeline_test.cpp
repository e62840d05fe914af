// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/timeline.h"

#include <gtest/gtest.h>

namespace mlrun::blame {
namespace {

constexpr Ns kWidthNs = 1'000'000;

double read_ns(const CallBins& bins, Ns a_ns, Ns b_ns) {
  return bins.sums(a_ns, b_ns).group_ns[static_cast<size_t>(CallGroup::kRead)];
}

TEST(CallBins, SumsTheCallsInAnInterval) {
  CallBins bins;
  bins.add(0, 1000, CallGroup::kRead, {}, kWidthNs);
  bins.add(5'000'000, 5'002'000, CallGroup::kRead, {}, kWidthNs);
  bins.add(9'000'000, 9'004'000, CallGroup::kSync, {}, kWidthNs);
  EXPECT_DOUBLE_EQ(read_ns(bins, 0, 10'000'000), 3000);
  EXPECT_DOUBLE_EQ(read_ns(bins, 4'000'000, 8'000'000), 2000);
  EXPECT_DOUBLE_EQ(bins.sums(0, 10'000'000).total_ns(), 7000);
  EXPECT_DOUBLE_EQ(read_ns(bins, 6'000'000, 8'000'000), 0);
}

TEST(CallBins, OfAPartlyCoveredIntervalTakeTheSameShare) {
  CallBins bins;
  bins.add(0, 1000, CallGroup::kRead, {}, kWidthNs);
  EXPECT_DOUBLE_EQ(read_ns(bins, 500, 2000), 500);
  EXPECT_DOUBLE_EQ(read_ns(bins, 250, 750), 500);
}

TEST(CallBins, CountsACallWithinACallOnce) {
  CallBins bins;
  bins.add(0, 1000, CallGroup::kRead, {}, kWidthNs);
  bins.add(200, 800, CallGroup::kNames, {}, kWidthNs);
  bins.add(900, 1500, CallGroup::kRead, {}, kWidthNs);
  EXPECT_DOUBLE_EQ(bins.sums(0, 2000).total_ns(), 1500);
}

TEST(CallBins, KeepsTheStatesOfTheKernelSide) {
  CallBins bins;
  bins.add(0, 1000, CallGroup::kRead, {100, 600, 0, 50}, kWidthNs);
  const CallSums half = bins.sums(0, 500);
  EXPECT_DOUBLE_EQ(half.state_ns[static_cast<size_t>(CallState::kDevice)], 300);
  EXPECT_DOUBLE_EQ(half.state_ns[static_cast<size_t>(CallState::kRunQueue)], 50);
}

TEST(CallBins, TakeRoomByTimeAndNotByCalls) {
  CallBins bins;
  for (Ns at_ns = 0; at_ns < 100'000'000; at_ns += 1000) bins.add(at_ns, at_ns + 500, CallGroup::kRead, {}, kWidthNs);
  EXPECT_LE(bins.size(), 110U);
  EXPECT_NEAR(read_ns(bins, 0, 100'000'000), 50'000'000, 1000);
  EXPECT_NEAR(read_ns(bins, 20'000'000, 30'000'000), 5'000'000, 2000);
}

}  // namespace
}  // namespace mlrun::blame
