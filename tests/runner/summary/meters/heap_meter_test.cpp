// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/heap_meter.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "runner/events/record.h"
#include "tests/runner/summary/small_training.h"

namespace mlrun::summary {
namespace {

using testing::allocation;
using testing::reading;
using testing::release;

class HeapMeterTest : public ::testing::Test {
 protected:
  static model::AllocRow resize(double at, uint64_t old_address, int64_t old_bytes, uint64_t address, int64_t bytes) {
    model::AllocRow row = allocation(1, at, address, bytes, 1);
    row.op = MLRUN_REALLOC;
    row.old_address = old_address;
    row.old_usable = old_bytes;
    return row;
  }

  BlockRoom room_;
  HeapMeter meter_{1024, room_};
};

TEST_F(HeapMeterTest, KeepsThePeakWhenBlocksGo) {
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  meter_.add(allocation(1, 2, 0x2000, 2000, 2));
  meter_.add(release(1, 3, 0x1000));
  meter_.add(allocation(1, 4, 0x3000, 3000, 2));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 6000);
  ASSERT_EQ(meter_.libraries().size(), 2u);
  EXPECT_EQ(meter_.libraries()[0].library, 1);
  EXPECT_EQ(meter_.libraries()[0].live_bytes, 4000);
  EXPECT_EQ(meter_.libraries()[1].live_bytes, 2000);
}

TEST_F(HeapMeterTest, FollowsRealloc) {
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  meter_.add(resize(2, 0x1000, 4000, 0x9000, 10'000));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 10'000);
  meter_.add(resize(3, 0x9000, 10'000, 0, 5'000'000));  // failed: the old block stays
  meter_.add(resize(4, 0x9000, 10'000, 0, 0));          // freed
  meter_.add(allocation(1, 5, 0x5000, 10'001, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 10'001);
}

TEST_F(HeapMeterTest, LeavesABlockThatReallocMadeSmallToTheCounts) {
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  meter_.add(resize(2, 0x1000, 4000, 0x1000, 100));
  for (int i = 0; i < 50; ++i) meter_.add(allocation(1, 3 + i, 0x2000 + 0x1000 * uint64_t(i), 1024, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 50 * 1024);
  EXPECT_EQ(meter_.peak().counted_bytes, 100);
}

// Its allocation was counted; no free of it is.
TEST_F(HeapMeterTest, TakesABlockThatReallocMadeLargeOutOfTheCounts) {
  meter_.add(reading(1, 1, 10, 10 * 500));
  for (int i = 0; i < 10; ++i)
    meter_.add(resize(2 + i, 0x1000 + 0x1000 * uint64_t(i), 500, 0x100000 * uint64_t(i + 1), 4000));
  for (int i = 0; i < 10; ++i) meter_.add(release(1, 20 + i, 0x100000 * uint64_t(i + 1)));
  meter_.add(allocation(1, 40, 0x5000, 50'000, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().counted_bytes, 0);
  EXPECT_EQ(meter_.peak().recorded_bytes, 50'000);
}

TEST_F(HeapMeterTest, FollowsSmallBlocksOfAnAllocatorThatListsAll) {
  meter_.add(allocation(1, 1, 0x1000, 100, 1));
  meter_.add(resize(2, 0x1000, 100, 0x2000, 200));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 200);
  meter_.add(release(1, 3, 0x2000));
  meter_.add(allocation(1, 4, 0x3000, 201, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 201);
}

// While a thread is inside realloc, another may get the old address; its row comes first, since it ends first.
TEST_F(HeapMeterTest, DoesNotTakeAnotherThreadsNewBlockForTheOldOne) {
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  meter_.add(allocation(1, 2, 0x1000, 5000, 2));
  meter_.add(resize(1.5, 0x1000, 4000, 0x8000, 6000));
  meter_.add(release(1, 3, 0x1000));
  meter_.add(release(1, 4, 0x8000));
  meter_.add(allocation(1, 5, 0x2000, 11'001, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 11'001);
}

TEST_F(HeapMeterTest, IgnoresTheReleaseOfInheritedBlocks) {
  meter_.add(release(1, 1, 0x7000));
  meter_.add(allocation(1, 2, 0x1000, 2048, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 2048);
}

TEST_F(HeapMeterTest, ChangesAllClassesOfAReadingTogether) {
  meter_.add(reading(1, 1, 10, 5000));
  meter_.add(reading(1, 1, 0, -4000));
  meter_.add(reading(1, 2, 10, 100));
  meter_.finish();
  EXPECT_EQ(meter_.peak().counted_bytes, 1100);
  EXPECT_EQ(meter_.counted_allocations(), 20);
}

TEST_F(HeapMeterTest, TakesNoNegativeCountForAHeap) {
  meter_.add(reading(1, 1, 0, -4000));
  meter_.add(allocation(1, 2, 0x1000, 2048, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().counted_bytes, 0);
  EXPECT_EQ(meter_.peak().recorded_bytes, 2048);
}

TEST_F(HeapMeterTest, RestartsAfterExecAndIgnoresLateRowsOfTheOldImage) {
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  model::AllocRow next = allocation(1, 2, 0x1000, 3000, 2);
  next.origin.image_id = 2;
  meter_.add(next);
  meter_.add(allocation(1, 3, 0x5000, 2000, 1));
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, 4000);
  EXPECT_EQ(meter_.libraries().size(), 1u);
}

TEST_F(HeapMeterTest, CountsWhatDidNotFit) {
  room_.left = 1;
  meter_.add(allocation(1, 1, 0x1000, 4000, 1));
  meter_.add(allocation(1, 2, 0x2000, 5000, 1));
  meter_.add(release(1, 3, 0x2000));
  meter_.add(release(1, 4, 0x1000));
  meter_.add(allocation(1, 5, 0x3000, 4500, 1));
  meter_.finish();
  EXPECT_EQ(room_.left_out_blocks, 1);
  EXPECT_EQ(room_.left_out_bytes, 5000);
  EXPECT_EQ(meter_.peak().recorded_bytes, 4500);
}

TEST_F(HeapMeterTest, AgreesWithAPlainModelOnPeakAndLibraries) {
  std::mt19937_64 random(9);
  std::map<uint64_t, std::pair<int64_t, int64_t>> live;  // address -> bytes, library
  std::map<int64_t, int64_t> by_library, at_peak;
  int64_t sum = 0, peak = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t address = 0x1000 * (1 + random() % 200);
    if (const auto found = live.find(address); found != live.end()) {
      meter_.add(release(1, i, address));
      sum -= found->second.first;
      by_library[found->second.second] -= found->second.first;
      live.erase(found);
    } else {
      const auto bytes = int64_t(1024 + random() % 100'000), library = int64_t(1 + random() % 5);
      meter_.add(allocation(1, i, address, bytes, library));
      sum += bytes;
      by_library[library] += bytes;
      live[address] = {bytes, library};
      if (sum > peak) {
        peak = sum;
        at_peak = by_library;
      }
    }
  }
  meter_.finish();
  EXPECT_EQ(meter_.peak().recorded_bytes, peak);
  for (const HeapLibrary& library : meter_.libraries()) EXPECT_EQ(library.live_bytes, at_peak[library.library]);
}

}  // namespace
}  // namespace mlrun::summary
