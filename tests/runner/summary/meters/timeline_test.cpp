// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/timeline.h"

#include <random>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

constexpr int64_t kBin = Timeline::kFirstBinNs;

TEST(TimelineTest, BeginsWithTheFirstCallByDefault) {
  Timeline timeline(0);
  timeline.add(5'000'000, 10, 100, 0);
  EXPECT_EQ(timeline.start_ns(), 5'000'000);
  EXPECT_EQ(timeline.bins().size(), 1u);
}

TEST(TimelineTest, CountsEarlierCallsFromTheStartOn) {
  Timeline timeline(1000 * kBin);
  timeline.add(990 * kBin, 11 * kBin, 100, 0);
  EXPECT_EQ(timeline.bins()[0].bytes_read + timeline.bins()[1].bytes_read, 100);
  EXPECT_EQ(timeline.bins()[0].time_ns, kBin);
}

TEST(TimelineTest, HasRoomForAnyLengthAndLosesNothing) {
  Timeline timeline(1);
  std::mt19937_64 random(11);
  int64_t read = 0, written = 0, time = 0;
  for (int64_t i = 0; i < 5000; ++i) {
    const auto bytes = int64_t(random() % 100'000);
    const auto dur = int64_t(random() % (20 * kBin));
    timeline.add(1 + i * i * 1000, dur, bytes, bytes / 3);
    read += bytes;
    written += bytes / 3;
    time += dur;
  }
  EXPECT_LE(timeline.bins().size(), Timeline::kMaxBins);
  EXPECT_GT(timeline.bin_ns(), kBin);
  for (const TimeBin& bin : timeline.bins()) {
    read -= bin.bytes_read;
    written -= bin.bytes_written;
    time -= bin.time_ns;
  }
  EXPECT_EQ(read, 0);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(time, 0);
}

TEST(TimelineTest, KeepsThePlaceOfBytesWhenBinsWiden) {
  Timeline timeline(1);
  timeline.add(1 + 10 * kBin, 0, 7, 0);
  timeline.add(1 + 601 * kBin, 0, 9, 0);
  EXPECT_EQ(timeline.bin_ns(), 2 * kBin);
  EXPECT_EQ(timeline.bins()[5].bytes_read, 7);
  EXPECT_EQ(timeline.bins()[300].bytes_read, 9);
}

}  // namespace
}  // namespace mlrun::summary
