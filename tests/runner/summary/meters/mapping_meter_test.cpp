// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/mapping_meter.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <utility>

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
TEST_F(MappingMeterTest, AMunmapSkipsALimitedNumberOfLaterMappings) {
  for (int i = 0; i < 1000; i++) meter_.add(mapped(1000 + i, 0x10000000 + i * 0x2000, 4096));
  meter_.add(mapped(100, 0x10000000 + 1000 * 0x2000, kMiB));
  meter_.add(unmapped(500, 0x10000000, 1000 * 0x2000 + kMiB));
  meter_.add(mapped(3000, 0x90000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, 1000 * 4096 + 2 * kMiB);
}

TEST_F(MappingMeterTest, RestartsAfterExec) {
  meter_.add(mapped(100, 0x10000000, 3 * kMiB));
  model::CallRow next = mapped(200, 0x20000000, kMiB);
  next.origin.image_id = 2;
  meter_.add(next);
  model::CallRow late = mapped(150, 0x30000000, 100 * kMiB);  // of the image that is gone
  meter_.add(late);
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB);
  EXPECT_EQ(room_.left, MappingRoom().left - 1);
}

TEST_F(MappingMeterTest, CountsWhatDidNotFit) {
  room_.left = 1;
  meter_.add(mapped(100, 0x10000000, kMiB));
  meter_.add(mapped(200, 0x20000000, 2 * kMiB));
  EXPECT_EQ(meter_.peak().bytes, kMiB);
  EXPECT_EQ(room_.left_out_bytes, 2 * kMiB);
}

model::CallRow protected_row(int64_t at_ns, uint64_t address, int64_t bytes, int protection) {
  model::CallRow row;
  row.func = events::func::k_mprotect;
  row.origin.image_id = 1;
  row.origin.ts_ns = at_ns;
  row.dur_ns = 10;
  row.requested = bytes;
  row.arg2 = int64_t(address);
  row.flags = protection;
  return row;
}

TEST_F(MappingMeterTest, CountsKeptAddressSpaceOnceItIsOpened) {
  model::CallRow reserved = mapped(100, 0x10000000, 100 * kMiB, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  reserved.arg2 = PROT_NONE;
  meter_.add(reserved);
  meter_.add(protected_row(200, 0x10000000 + kMiB, 3 * kMiB, PROT_READ | PROT_WRITE));
  meter_.add(protected_row(300, 0x10000000 + 2 * kMiB, kMiB, PROT_NONE));
  meter_.add(protected_row(400, 0x10000000 + 10 * kMiB, kMiB, PROT_READ));
  EXPECT_EQ(meter_.bytes(), 3 * kMiB);
  EXPECT_EQ(meter_.peak().bytes, 3 * kMiB);
  EXPECT_EQ(meter_.peak().ts_ns, 210);
  EXPECT_EQ(meter_.noreserve_bytes(), 0);
}

TEST_F(MappingMeterTest, KeepsWhatIsMappedWithoutReserveApart) {
  meter_.add(mapped(100, 0x10000000, 100 * kMiB, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
  meter_.add(mapped(200, 0x20000000, kMiB));
  EXPECT_EQ(meter_.peak().bytes, kMiB);
  EXPECT_EQ(meter_.peak().noreserve_bytes, 100 * kMiB);
}

// The kernel's own list is the truth: random calls on one range of addresses, and after each the sum of what /proc/self/maps has there.
class RandomMappingsTest : public MappingMeterTest {
 protected:
  static constexpr int64_t kPage = 4096, kPages = 512;

  void SetUp() override {
    area_ = static_cast<char*>(mmap(nullptr, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(area_, MAP_FAILED);
    meter_.add(placed(area_, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS));
  }
  void TearDown() override { munmap(area_, kPages * kPage); }

  int64_t below(int64_t most) { return int64_t(random_() % uint64_t(most)); }

  model::CallRow placed(void* at, int64_t bytes, int protection, int flags) {
    model::CallRow made = mapped(now_ns_ += 100, reinterpret_cast<uint64_t>(at), bytes, flags);
    made.arg2 = protection;
    return made;
  }

  int protection() {
    static constexpr std::array kSome = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE};
    return kSome[size_t(below(kSome.size()))];
  }

  // Both at some page of the area, and as long as there is room.
  std::pair<char*, int64_t> range() {
    const int64_t first = below(kPages), pages = 1 + below(std::min<int64_t>(kPages - first, 40));
    return {area_ + first * kPage, pages * kPage};
  }

  void step() {
    const auto [at, bytes] = range();
    switch (below(4)) {
      case 0: return do_map(at, bytes);
      case 1: return do_protect(at, bytes);
      case 2: return do_unmap(at, bytes);
      default: return do_remap(at, bytes);
    }
  }

  void do_map(char* at, int64_t bytes) {
    static constexpr std::array kWays = {MAP_PRIVATE, MAP_PRIVATE, MAP_SHARED};
    const int flags = kWays[size_t(below(kWays.size()))] | MAP_ANONYMOUS | MAP_FIXED, allowed = protection();
    ASSERT_EQ(mmap(at, size_t(bytes), allowed, flags, -1, 0), at);
    meter_.add(placed(at, bytes, allowed, flags));
  }

  void do_protect(char* at, int64_t bytes) {
    const int allowed = protection();
    if (mprotect(at, size_t(bytes), allowed) != 0) return fill(at, bytes);  // it stopped at a hole, halfway
    meter_.add(protected_row(now_ns_ += 100, reinterpret_cast<uint64_t>(at), bytes, allowed));
  }

  void do_unmap(char* at, int64_t bytes) {
    ASSERT_EQ(munmap(at, size_t(bytes)), 0);
    meter_.add(unmapped(now_ns_ += 100, reinterpret_cast<uint64_t>(at), bytes));
  }

  void do_remap(char* at, int64_t bytes) {
    const auto [to, new_bytes] = range();
    const int64_t old_bytes = below(3) == 0 ? bytes : std::min(bytes, new_bytes);
    std::array<unsigned char, kPages> resident{};
    if (mincore(at, size_t(old_bytes), resident.data()) != 0)
      return;  // the effect on the target of moving several mappings with a hole is unspecified
    const bool fixed = below(2) == 0 && (to + new_bytes <= at || at + old_bytes <= to);
    const int flags = fixed ? MREMAP_MAYMOVE | MREMAP_FIXED : 0;
    void* moved_to = mremap(at, size_t(old_bytes), size_t(new_bytes), flags, to);
    if (moved_to == MAP_FAILED)
      return fixed ? fill(to, new_bytes) : void();  // it may have unmapped there before it failed
    model::CallRow row =
        moved(now_ns_ += 100, reinterpret_cast<uint64_t>(at), reinterpret_cast<uint64_t>(moved_to), new_bytes);
    row.offset2 = old_bytes;
    row.flags = flags;
    meter_.add(row);
  }

  void fill(char* at, int64_t bytes) {
    ASSERT_EQ(mmap(at, size_t(bytes), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), at);
    meter_.add(placed(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS));
  }

  // Of private mappings without a name that may be read or written.
  int64_t by_the_kernel() const {
    std::ifstream maps("/proc/self/maps");
    const auto begin = reinterpret_cast<uint64_t>(area_), end = begin + kPages * kPage;
    int64_t sum = 0;
    for (std::string line; std::getline(maps, line);) {
      uint64_t from = 0, to = 0;
      std::array<char, 5> allowed{};
      int name_at = 0;
      if (sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %*s %n", &from, &to, allowed.data(), &name_at) != 3) continue;
      const bool counts = allowed[3] == 'p' && (allowed[0] == 'r' || allowed[1] == 'w');
      if (!counts || size_t(name_at) < line.size()) continue;
      sum += std::max<int64_t>(0, int64_t(std::min(to, end)) - int64_t(std::max(from, begin)));
    }
    return sum;
  }

  std::mt19937_64 random_{20261125};
  char* area_ = nullptr;
  int64_t now_ns_ = 0;
};

TEST_F(RandomMappingsTest, AddUpToWhatTheKernelHas) {
  for (int i = 0; i < 3000; ++i) {
    step();
    ASSERT_EQ(meter_.bytes(), by_the_kernel()) << "after call " << i;
  }
}

}  // namespace
}  // namespace mlrun::summary
