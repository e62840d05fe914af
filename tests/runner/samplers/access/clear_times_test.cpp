// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/clear_times.h"

#include <gtest/gtest.h>

namespace mlrun::access {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kBegin = 1'000'000 * kSecond;

// A large process is cleared for seconds: a mapping that is cleared first would seem touched in a window that begins when the last one is cleared.
TEST(ClearTimes, AMappingsWindowBeginsWhenItsOwnRangesWereCleared) {
  ClearTimes times;
  times.add(0x10000, 0x20000, kBegin);
  times.add(0x20000, 0x30000, kBegin + 2 * kSecond);
  times.add(0x40000, 0x50000, kBegin + 10 * kSecond);
  const uint64_t opened_ns = kBegin + 10 * kSecond;
  EXPECT_EQ(times.mean_ns(0x10000, 0x20000, opened_ns), kBegin);
  EXPECT_EQ(times.mean_ns(0x10000, 0x30000, opened_ns), kBegin + kSecond) << "of two ranges, the mean";
  EXPECT_EQ(times.mean_ns(0x1c000, 0x30000, opened_ns), kBegin + kSecond * 8 / 5) << "by bytes";
  EXPECT_EQ(times.mean_ns(0x40000, 0x50000, opened_ns), opened_ns);
  EXPECT_EQ(times.mean_ns(0x30000, 0x40000, opened_ns), opened_ns) << "mapped since then";
  times.reset();
  EXPECT_EQ(times.mean_ns(0x10000, 0x20000, opened_ns), opened_ns);
}

}  // namespace
}  // namespace mlrun::access
