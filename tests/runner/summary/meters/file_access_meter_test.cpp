// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_access_meter.h"

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

constexpr auto kReading = Direction::kRead;
constexpr auto kWriting = Direction::kWrite;

const FileAccessPattern& reads(const FileAccessMeter& meter) { return meter.patterns()[size_t(kReading)]; }
const FileAccessPattern& writes(const FileAccessMeter& meter) { return meter.patterns()[size_t(kWriting)]; }

TEST(AccessMeterTest, ExpectsADescriptionToBeginAtZero) {
  FileAccessMeter meter;
  meter.transfer(kReading, 1, 0, 10);
  meter.transfer(kReading, 2, 500, 10);
  EXPECT_EQ(reads(meter).sequential.calls, 1);
  EXPECT_EQ(reads(meter).forward.calls, 1);
}

TEST(AccessMeterTest, KeepsReadingAndWritingApart) {
  FileAccessMeter meter;
  meter.transfer(kReading, 1, 0, 100);
  meter.transfer(kWriting, 1, 0, 7);
  meter.transfer(kReading, 1, 100, 100);
  meter.transfer(kWriting, 1, 7, 7);
  EXPECT_EQ(reads(meter).sequential.bytes, 200);
  EXPECT_EQ(writes(meter).sequential.bytes, 14);
}

TEST(AccessMeterTest, DistinguishesForwardFromBackward) {
  FileAccessMeter meter;
  meter.transfer(kReading, 1, 0, 10);
  meter.transfer(kReading, 1, 11, 10);
  meter.transfer(kReading, 1, 20, 10);
  EXPECT_EQ(reads(meter).forward.calls, 1);
  EXPECT_EQ(reads(meter).backward.calls, 1);
}

TEST(AccessMeterTest, LetsAnAppendBeginAnywhereOnce) {
  FileAccessMeter meter;
  meter.opened_for_append(1);
  meter.transfer(kWriting, 1, 1000, 10);
  meter.transfer(kWriting, 1, 2000, 10);
  EXPECT_EQ(writes(meter).sequential.calls, 1);
  EXPECT_EQ(writes(meter).forward.calls, 1);
}

TEST(AccessMeterTest, CountsWhatHasNoOffsetOrDescriptionAsUnknown) {
  FileAccessMeter meter;
  meter.transfer(kReading, 1, -1, 10);
  meter.transfer(kReading, 0, 0, 10);
  EXPECT_EQ(reads(meter).unknown.bytes, 20);
}

TEST(AccessMeterTest, RemembersTheDescriptionsUsedLast) {
  FileAccessMeter meter;
  meter.transfer(kReading, 1, 0, 10);
  for (size_t i = 2; i <= FileAccessMeter::kKept; ++i) meter.transfer(kReading, int64_t(i), 0, 10);
  meter.transfer(kReading, 1, 10, 10);
  EXPECT_EQ(reads(meter).forward.calls, 0);
  for (size_t i = 2; i <= 3 * FileAccessMeter::kKept; ++i)
    meter.transfer(kReading, int64_t(i + FileAccessMeter::kKept), 0, 10);
  meter.transfer(kReading, 1, 20, 10);  // forgotten by now
  EXPECT_EQ(reads(meter).forward.calls, 1);
}

}  // namespace
}  // namespace mlrun::summary
