// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/mapping_meter.h"

#include <sys/mman.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "runner/events/call_layout.h"

namespace mlrun::summary {
namespace {

constexpr int64_t kMiB = 1 << 20;

class MappingMeterTest : public ::testing::Test {
 protected:
  static model::CallRow row(uint16_t func, int64_t at_ns, int64_t bytes, uint64_t old_address, uint64_t result) {
    model::CallRow row;
    row.func = func;
    row.origin.image_id = 1;
    row.origin.ts_ns = at_ns;
    row.dur_ns = 10;
    row.requested = bytes;
    row.arg2 = int64_t(old_address);
    row.ret = int64_t(result);
    return row;
  }
  static model::CallRow mapped(int64_t at_ns, uint64_t address, int64_t bytes,
                               int flags = MAP_PRIVATE | MAP_ANONYMOUS) {
    model::CallRow made = row(events::func::k_mmap, at_ns, bytes, PROT_READ | PROT_WRITE, address);
    made.flags = flags;
    return made;
  }
  static model::CallRow unmapped(int64_t at_ns, uint64_t address, int64_t bytes) {
    return row(events::func::k_munmap, at_ns, bytes, address, 0);
  }
  static model::CallRow moved(int64_t at_ns, uint64_t from, uint64_t to, int64_t bytes) {
    return row(events::func::k_mremap, at_ns, bytes, from, to);
  }

  MappingRoom room_;
  MappingMeter meter_{room_};
};

TEST_F(MappingMeterTest, KeepsWhatWasMappedAtOnce) {
  meter_.add(mapped(100, 0x10000000, kMiB));
  meter_.add(mapped(200, 0x20000000, kMiB));
  meter_.add(unmapped(300, 0x10000000, kMiB));
  meter_.add(mapped(400, 0x30000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, 2 * kMiB);
  EXPECT_EQ(meter_.peak().ts_ns, 210);
}

TEST_F(MappingMeterTest, CountsWholePagesAndNeitherFilesNorFailuresNorFreeAddressSpace) {
  meter_.add(mapped(100, 0x10000000, 1));
  meter_.add(mapped(200, 0x20000000, kMiB, MAP_SHARED));
  model::CallRow failed = mapped(300, 0x30000000, kMiB);
  failed.err = ENOMEM;
  failed.ret = -1;
  meter_.add(failed);
  model::CallRow reserved = mapped(400, 0x40000000, kMiB);
  reserved.arg2 = PROT_NONE;
  meter_.add(reserved);
  EXPECT_EQ(meter_.peak().bytes, 4096);
}

TEST_F(MappingMeterTest, TakesTheMiddleOutOfAMapping) {
  meter_.add(mapped(100, 0x10000000, 4 * kMiB));
  meter_.add(unmapped(200, 0x10000000 + kMiB, kMiB));
  meter_.add(mapped(300, 0x20000000, 2 * kMiB));
  EXPECT_EQ(meter_.peak().bytes, 5 * kMiB);
  meter_.add(unmapped(400, 0x10000000, 4 * kMiB));  // both ends of it
  meter_.add(mapped(500, 0x30000000, 3 * kMiB));
  EXPECT_EQ(meter_.peak().bytes, 5 * kMiB);
}

TEST_F(MappingMeterTest, DoesNotCountTwiceWhatIsMappedOver) {
  meter_.add(mapped(100, 0x10000000, 2 * kMiB));
  meter_.add(mapped(200, 0x10000000, kMiB, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED));
  EXPECT_EQ(meter_.peak().bytes, 2 * kMiB);
  meter_.add(mapped(300, 0x10000000, kMiB, MAP_SHARED | MAP_FIXED));  // a file
  meter_.add(mapped(400, 0x20000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, 2 * kMiB);
}

TEST_F(MappingMeterTest, FollowsMremapToItsNewAddressAndLength) {
  meter_.add(mapped(100, 0x10000000, kMiB));
  meter_.add(moved(200, 0x10000000, 0x50000000, 3 * kMiB));
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB);
  meter_.add(unmapped(300, 0x50000000, 3 * kMiB));
  meter_.add(mapped(400, 0x10000000, 3 * kMiB + 4096));
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB + 4096);
  meter_.add(moved(500, 0x70000000, 0x80000000, 100 * kMiB));  // of a file, or of before fork
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB + 4096);
}

// munmap by one thread; before it has returned another gets the address and has returned.
TEST_F(MappingMeterTest, LeavesTheNextMappingOfAnAddressWhenItsMunmapReturnsLate) {
  meter_.add(mapped(100, 0x10000000, kMiB));
  meter_.add(mapped(220, 0x10000000, kMiB));
  meter_.add(unmapped(210, 0x10000000, kMiB));
  meter_.add(mapped(300, 0x20000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, 2 * kMiB);
}

// A made-up spool must not have each munmap walk past all mappings: behind so many later ones nothing is taken away.
TEST_F(MappingMeterTest, AMunmapPassesOverSoManyLaterMappingsAndNoMore) {
  for (int i = 0; i < 1000; i++) meter_.add(mapped(1000 + i, 0x10000000 + i * 0x2000, 4096));
  meter_.add(mapped(100, 0x10000000 + 1000 * 0x2000, kMiB));
  meter_.add(unmapped(500, 0x10000000, 1000 * 0x2000 + kMiB));
  meter_.add(mapped(3000, 0x90000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, 1000 * 4096 + 2 * kMiB);
}

TEST_F(MappingMeterTest, BeginsAnewAfterExec) {
  meter_.add(mapped(100, 0x10000000, 3 * kMiB));
  model::CallRow next = mapped(200, 0x20000000, kMiB);
  next.origin.image_id = 2;
  meter_.add(next);
  model::CallRow late = mapped(150, 0x30000000, 100 * kMiB);  // of the image that is gone
  meter_.add(late);
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB);
  EXPECT_EQ(room_.left, MappingRoom().left - 1);
}

TEST_F(MappingMeterTest, TellsWhatFoundNoRoom) {
  room_.left = 1;
  meter_.add(mapped(100, 0x10000000, kMiB));
  meter_.add(mapped(200, 0x20000000, 2 * kMiB));
  EXPECT_EQ(meter_.peak().bytes, kMiB);
  EXPECT_EQ(room_.left_out_bytes, 2 * kMiB);
}

}  // namespace
}  // namespace mlrun::summary
