// SPDX-License-Identifier: Apache-2.0
// Records and exact counts of the allocation family.
#include <gtest/gtest.h>

#include "runner/events/alloc_class.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

struct Block {
  uint64_t address, size, excess, site, clock, duration, alignment, old_address, old_usable;
};

Block block_of(const RecordView& r) {
  const uint64_t* w = r.words;
  Block b{};
  b.address = w[2] << 12 >> 17;
  b.excess = w[2] >> 52;
  b.size = w[3] & 0xffffffffffff;
  b.site = r.arg() | w[3] >> 48 << 32;
  b.clock = w[1];
  if (r.units() == 3) b.duration = w[4] >> 8;
  if (r.units() == 3) b.alignment = w[5];
  if (r.units() == 4) b.old_address = w[4] >> 5;
  if (r.units() == 4) b.old_usable = w[5];
  if (r.units() == 4) b.duration = w[6] >> 8;
  return b;
}

// Runs the victim that calls each function once; blocks by (kind, size).
class Family : public testing::Test {
 protected:
  void SetUp() override {
    RunOptions options;
    options.on_record = [this](const RecordView& r) {
      if (r.kind() < MLRUN_MALLOC || r.kind() >= MLRUN_ALLOC_END) return;
      const Block b = block_of(r);
      blocks_[{r.kind(), b.size}] = b;
      if (r.kind() == MLRUN_FREE) freed_[b.address]++;
    };
    totals_ = run_traced({victim("allocations")}, options);
    ASSERT_EQ(totals_.exit_code(), 0) << totals_.output;
  }

  void expect(uint32_t kind, uint64_t size, const std::string& name, uint64_t alignment = 0) {
    ASSERT_EQ(blocks_.count({kind, size}), 1) << name;
    const Block& b = blocks_[{kind, size}];
    EXPECT_EQ(static_cast<long>(b.address), totals_.number(name)) << name;
    EXPECT_EQ(static_cast<long>(b.size + b.excess), totals_.number(name + "_usable")) << name;
    EXPECT_EQ(b.alignment, alignment) << name;
    EXPECT_GT(b.site, 0x1000) << name;
    EXPECT_LT(b.site >> 40, 0x80) << name;
  }

  Totals totals_;
  std::map<std::pair<uint32_t, uint64_t>, Block> blocks_;
  std::map<uint64_t, int> freed_;
};

TEST_F(Family, RecordsAddressSizeAndAlignmentOfEachForm) {
  expect(MLRUN_MALLOC, 2001, "malloc");
  expect(MLRUN_MALLOC, 300001, "big");
  expect(MLRUN_CALLOC, 3003, "calloc");
  expect(MLRUN_MALLOC, 2002, "before");
  expect(MLRUN_REALLOC, 2000003, "realloc");
  expect(MLRUN_REALLOCARRAY, 4907, "reallocarray");
  expect(MLRUN_REALLOC, 6001, "null");
  expect(MLRUN_POSIX_MEMALIGN, 7001, "posix_memalign", 64);
  expect(MLRUN_ALIGNED_ALLOC, 8192, "aligned_alloc", 256);
  expect(MLRUN_MEMALIGN, 9001, "memalign", 128);
  expect(MLRUN_VALLOC, 10001, "valloc");
  expect(MLRUN_PVALLOC, 11001, "pvalloc");
}

TEST_F(Family, GivesDurationsToLargeBlocksAndReallocations) {
  EXPECT_GT((blocks_[{MLRUN_MALLOC, 300001}].duration), 0);
  EXPECT_EQ((blocks_[{MLRUN_MALLOC, 2001}].duration), 0);
  const Block& grown = blocks_[{MLRUN_REALLOC, 2000003}];
  EXPECT_GT(grown.duration, 0);
  EXPECT_EQ(static_cast<long>(grown.old_address), totals_.number("before"));
  EXPECT_EQ(static_cast<long>(grown.old_usable), totals_.number("before_usable"));
  EXPECT_EQ((blocks_[{MLRUN_REALLOC, 6001}].old_address), 0);
}

TEST_F(Family, RecordsEachFreeWithTheUsableSize) {
  for (const char* name :
       {"malloc", "big", "calloc", "reallocarray", "null", "posix_memalign", "aligned_alloc", "memalign"}) {
    const auto address = static_cast<uint64_t>(totals_.number(name));
    EXPECT_GE(freed_[address], 1) << name;
    EXPECT_EQ(blocks_.count({MLRUN_FREE, static_cast<uint64_t>(totals_.number(std::string(name) + "_usable"))}), 1)
        << name;
  }
}

TEST_F(Family, FailuresAreTheAllocatorsOwn) {
  EXPECT_EQ(totals_.number("overflow"), ENOMEM);
  EXPECT_EQ(totals_.number("failed"), 1);
}

TEST(Counting, IsExactBelowTheThreshold) {
  const Totals t = run_traced({victim("counted"), "123456", "1000"});
  EXPECT_GE(t.counted_allocs, 123456);
  EXPECT_LT(t.counted_allocs, 123456 + 200);
  EXPECT_GE(t.counted_frees, 61728);
  EXPECT_LT(t.counted_frees, 61728 + 200);
  EXPECT_EQ(t.of(MLRUN_MALLOC), 1000);
  EXPECT_EQ(t.of(MLRUN_FREE), 500);
}

TEST(Counting, UpToAGibibyteKeepsTheBytesToo) {
  const Totals t =
      run_traced({victim("calls"), "100000", "exit"}, {.arena = {.alloc_min_bytes = MLRUN_ALLOC_MIN_LIMIT}});
  EXPECT_GE(t.counted_allocs, 10000);
  EXPECT_GE(t.counted_frees, 10000);
  EXPECT_GE(t.counted_alloc_bytes, 10000 * 5000);
  EXPECT_EQ(t.of(MLRUN_MALLOC), 0);
}

TEST(Counting, AndRecordingAgreeOnTheNumberOfCalls) {
  const std::vector<std::string> command = {victim("counted"), "3000", "2000"};
  const Totals all = run_traced(command, {.arena = {.alloc_min_bytes = 0}});
  const Totals none = run_traced(command, {.arena = {.alloc_min_bytes = MLRUN_ALLOC_MIN_LIMIT}});
  EXPECT_EQ(all.counted_allocs, 0);
  EXPECT_EQ(all.of(MLRUN_MALLOC) + all.of(MLRUN_CALLOC), none.counted_allocs);
  EXPECT_EQ(all.of(MLRUN_FREE), none.counted_frees);
}

constexpr uint32_t kTimes = MLRUN_STREAM_ALLOCS | MLRUN_STREAM_ALLOC_TIMES;

// Records of the family and of the times of frees, as one thread made them.
struct TimedRun {
  explicit TimedRun(const std::vector<std::string>& command, RunOptions options) {
    options.arena.alloc_min_bytes = 0;
    options.arena.streams = kTimes;
    options.on_record = [this](const RecordView& r) {
      if (r.kind() == MLRUN_FREE_TIME) {
        const bool has_free = !blocks.empty() && blocks.back().first == MLRUN_FREE;
        EXPECT_TRUE(has_free && blocks.back().second.clock == r.words[1] && blocks.back().second.duration == 0);
        if (has_free) blocks.back().second.duration = mlrun_whole_duration(r.arg());
      }
      if (r.kind() >= MLRUN_MALLOC && r.kind() < MLRUN_ALLOC_END) blocks.emplace_back(r.kind(), block_of(r));
    };
    totals = run_traced(command, options);
  }
  Totals totals;
  std::vector<std::pair<uint32_t, Block>> blocks;
};

TEST(Times, EveryAllocationAndEveryFreeHasOne) {
  const TimedRun run({victim("allocations")}, {});
  EXPECT_EQ(run.totals.exit_code(), 0) << run.totals.output;
  EXPECT_GE(run.blocks.size(), 22u);
  for (const auto& [kind, block] : run.blocks) EXPECT_GT(block.duration, 0) << kind << " of " << block.size;
  EXPECT_EQ(run.totals.of(MLRUN_FREE_TIME), run.totals.of(MLRUN_FREE));
}

TEST(Times, AreOnlyThoseOfRecordedBlocks) {
  const Totals t = run_traced({victim("counted"), "3000", "2000"}, {.arena = {.streams = kTimes}});
  EXPECT_EQ(t.of(MLRUN_MALLOC), 2000);
  EXPECT_EQ(t.of(MLRUN_FREE), 1000);
  EXPECT_EQ(t.of(MLRUN_FREE_TIME), 1000);
  EXPECT_GE(t.counted_allocs, 3000);
}

TEST(Times, AreThoseOfASlowAllocatorAndAreMissingForAFreeThatAHandlerJumpsOutOf) {
  RunOptions options{.library = preload_library() + ":" + victim("libtoy_allocator_slow.so")};
  options.arena.clock_kind = MLRUN_CLOCK_MONOTONIC;  // nanoseconds
  constexpr uint64_t kTimesLeft = 50, kMillisecond = 1'000'000;
  const TimedRun run({victim("leaves_free"), std::to_string(kTimesLeft)}, options);
  EXPECT_EQ(run.totals.number("left"), static_cast<long>(kTimesLeft)) << run.totals.output;
  uint64_t left = 0, finished = 0;
  for (const auto& [kind, block] : run.blocks) {
    const bool is_left = kind == MLRUN_FREE && block.size == 5056, is_free = kind == MLRUN_FREE && block.size == 3008;
    EXPECT_EQ(block.duration == 0, is_left) << kind << " of " << block.size;
    if (kind == MLRUN_MALLOC || is_free) {
      EXPECT_GE(block.duration, kMillisecond) << kind << " of " << block.size;
    }
    left += is_left ? 1 : 0;
    finished += is_free ? 1 : 0;
  }
  EXPECT_EQ(left, kTimesLeft) << "the free was recorded before it was left";
  EXPECT_EQ(finished, kTimesLeft);
}

class OtherAllocator : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string library = victim("libtoy_allocator_") + GetParam() + ".so";
    RunOptions options{.library = libraries_in_front() + ":" + library};
    options.on_record = [&](const RecordView& r) {
      if (r.kind() == MLRUN_STRING) strings_[r.words[1]] = fragment_text(r);
      if (r.kind() == MLRUN_PROCESS) allocator_ = r.words[MLRUN_PW_ALLOCATOR];
      if (r.kind() == MLRUN_PROCESS) is_glibc_ = r.words[MLRUN_PW_UID] >> 40;
      if (r.kind() == MLRUN_MALLOC) excess_[block_of(r).size] = block_of(r).excess;
    };
    totals_ = run_traced({victim("counted"), "3000", "1000"}, options);
    EXPECT_EQ(strings_[allocator_], library);
    EXPECT_EQ(is_glibc_, 0);
    EXPECT_EQ(totals_.exit_code(), 0);
  }

  virtual std::string libraries_in_front() const { return preload_library(); }

  Totals totals_;
  std::map<uint64_t, std::string> strings_;
  std::map<uint64_t, uint64_t> excess_;  // of the last block of a size
  uint64_t allocator_ = 0, is_glibc_ = 1;
};

TEST(AllocatorInFrontOfTheHooks, IsInTheProcessRecord) {
  uint64_t facts = 0;
  RunOptions options{.library = victim("libtoy_allocator_sized.so") + ":" + preload_library()};
  options.on_record = [&](const RecordView& r) {
    if (r.kind() == MLRUN_PROCESS) facts = r.words[MLRUN_PW_UID];
  };
  const Totals totals = run_traced({victim("counted"), "3000", "1000"}, options);
  EXPECT_EQ(totals.exit_code(), 0);
  EXPECT_EQ(totals.of(MLRUN_MALLOC), 0);
  EXPECT_EQ(facts >> 42, 1);
}

using AllocatorWithSizes = OtherAllocator;

TEST_P(AllocatorWithSizes, HasItsSizesRecordedAndSmallBlocksCounted) {
  EXPECT_EQ(totals_.of(MLRUN_MALLOC), 1000);
  EXPECT_EQ(excess_[3000], 3008 - 3000);
  EXPECT_GE(totals_.counted_allocs, 3000);
}

INSTANTIATE_TEST_SUITE_P(, AllocatorWithSizes, testing::Values("sized"));

using AllocatorWithoutSizes = OtherAllocator;

TEST_P(AllocatorWithoutSizes, HasAllItsBlocksRecorded) {
  EXPECT_GE(totals_.of(MLRUN_MALLOC), 4000);
  EXPECT_GE(totals_.of(MLRUN_FREE), 2000);
  EXPECT_EQ(excess_[100], 0);
  EXPECT_EQ(totals_.counted_allocs, 0);
}

INSTANTIATE_TEST_SUITE_P(, AllocatorWithoutSizes, testing::Values("plain"));

class AllocatorBehindPlacement : public OtherAllocator {
  std::string libraries_in_front() const override { return preload_library() + ":" + placement_library(); }
};

TEST_P(AllocatorBehindPlacement, HasTheSameBlocksRecorded) {
  const bool has_sizes = GetParam() == std::string("sized");
  EXPECT_GE(totals_.of(MLRUN_MALLOC), has_sizes ? 1000 : 4000);
  EXPECT_GE(totals_.of(MLRUN_FREE), has_sizes ? 500 : 2000);
  EXPECT_EQ(excess_[3000], has_sizes ? 8 : 0);
  EXPECT_EQ(totals_.counted_allocs >= 3000, has_sizes);
}

INSTANTIATE_TEST_SUITE_P(, AllocatorBehindPlacement, testing::Values("plain", "sized"));

TEST(Python, EveryMallocOfAnInterpreterIsThere) {
  const Totals t = run_traced({"python3", "-c", "import json; print(len(json.dumps(list(range(100000)))))"},
                              {.arena = {.alloc_min_bytes = 0}});
  EXPECT_EQ(t.output, "688890\n");
  EXPECT_GT(t.of(MLRUN_MALLOC), t.of(MLRUN_FREE));
  EXPECT_GT(t.of(MLRUN_REALLOC), 100);
  EXPECT_EQ(t.torn, 0);
  EXPECT_EQ(t.broken, 0);
}

}  // namespace
}  // namespace mlrun::preload_test
