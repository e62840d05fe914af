// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/access_join.h"

#include <initializer_list>
#include <limits>

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

constexpr uint64_t kAddress = 0x7f0000000000, kBytes = 1 << 20, kAllocMin = 64 << 10;
constexpr int64_t kSecond = 1'000'000'000;

// Rows of the process may be anywhere.
SampledMemory sampled_in(std::initializer_list<int32_t> proc_ids) {
  SampledMemory memory;
  for (const int32_t proc_id : proc_ids) memory[proc_id].emplace(uint64_t{0}, std::numeric_limits<uint64_t>::max());
  return memory;
}

class Join {
 public:
  explicit Join(model::TraceInfo info, std::vector<JoinedRung> rungs = {{MLRUN_ACCESS_FAULTS}},
                const SampledMemory& sampled = sampled_in({1, 2, 3}), std::vector<RecordingPause> pauses = {})
      : info_(std::move(info)),
        join_(info_, kAllocMin, std::move(rungs), std::move(pauses), sampled,
              [this](const AccessRow& row) { rows_.push_back(row); }) {}

  void allocate(int32_t proc_id, int64_t at_ns, uint64_t address = kAddress) {
    resize(proc_id, at_ns, at_ns, 0, address, kBytes);
  }
  void resize(int32_t proc_id, int64_t begin_ns, int64_t end_ns, uint64_t old_address, uint64_t address, uint64_t bytes,
              int64_t site_offset = 16) {
    join_.add(AllocEvent{.proc_id = proc_id,
                         .begin_ns = begin_ns,
                         .end_ns = end_ns,
                         .address = address,
                         .bytes = bytes,
                         .old_address = old_address,
                         .site = {proc_id, 1, site_offset, 1}});
  }
  void free(int32_t proc_id, int64_t at_ns, uint64_t address = kAddress) {
    join_.add(AllocEvent{
        .proc_id = proc_id, .is_free = true, .begin_ns = at_ns, .end_ns = at_ns, .address = address, .site = {}});
  }
  void fault(int32_t proc_id, int64_t at_ns, uint64_t address = kAddress, uint16_t rung = MLRUN_ACCESS_FAULTS,
             uint64_t page = kAccessPage, uint32_t flags = 0) {
    AccessRow row;
    row.who.proc_id = proc_id;
    row.ts_ns = at_ns;
    row.sample.rung = rung;
    row.sample.kind = MLRUN_ACCESS_FAULT;
    row.sample.address = address;
    row.sample.bytes = page;
    row.sample.flags = flags;
    row.sample.count = 1;
    join_.add(row);
  }
  // The whole range around the block was accessed in a window, or nothing of it.
  void window(int32_t proc_id, int64_t begin_ns, int64_t end_ns, uint16_t rung, bool is_touched = true) {
    range(proc_id, begin_ns, end_ns, rung, kBytes, is_touched ? kBytes : 0);
  }
  void range(int32_t proc_id, int64_t begin_ns, int64_t end_ns, uint16_t rung, uint64_t bytes, uint64_t touched_bytes,
             uint32_t flags = 0) {
    AccessRow row;
    row.who.proc_id = proc_id;
    row.ts_ns = begin_ns;
    row.dur_ns = end_ns - begin_ns;
    row.sample.rung = rung;
    row.sample.kind = MLRUN_ACCESS_TOUCHED;
    row.sample.address = kAddress;
    row.sample.bytes = row.sample.resident_bytes = bytes;
    row.sample.touched_bytes = touched_bytes;
    row.sample.flags = flags;
    join_.add(row);
  }
  // Whether each access has a block.
  std::vector<bool> joined(int64_t end_ns) {
    join_.finish(end_ns);
    std::vector<bool> result;
    for (const AccessRow& row : rows_) result.push_back(row.has_block);
    return result;
  }
  [[nodiscard]] const std::vector<AccessRow>& rows() const { return rows_; }
  [[nodiscard]] size_t site_rows() const { return join_.sites().size(); }
  // Sums of the first site, or of the first one of that rung.
  [[nodiscard]] AccessSiteRow site_of(int32_t proc_id, uint16_t rung = 0) const {
    for (const AccessSiteRow& row : join_.sites()) {
      if (row.site.proc_id == proc_id && (rung == 0 || row.rung == rung)) return row;
    }
    return {};
  }

 private:
  model::TraceInfo info_;
  std::vector<AccessRow> rows_;
  AccessJoin join_;
};

model::ProcessRow process(int32_t proc_id, int32_t parent, int64_t first_ns, int64_t last_ns, const char* end) {
  model::ProcessRow row;
  row.proc_id = proc_id;
  row.parent_proc_id = parent;
  row.forked = parent != 0;
  row.first_ns = first_ns;
  row.last_ns = last_ns;
  row.end = end;
  return row;
}

model::TraceInfo one_process() {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit")};
  return info;
}

TEST(AccessJoin, BlocksEndWithTheProgramThatExecReplaces) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit")};
  info.images.resize(2);
  info.images[0].proc_id = info.images[1].proc_id = 1;
  info.images[1].start_ns = 5 * kSecond;
  Join join(std::move(info));
  join.allocate(1, 1 * kSecond);
  join.fault(1, 2 * kSecond);
  join.fault(1, 6 * kSecond);  // of the new program, at the same address
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, 4 * kSecond);
}

TEST(AccessJoin, AForkedChildHasTheBlocksLiveAtTheFork) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 3 * kSecond, 9 * kSecond, "exit"),
                    process(3, 2, 4 * kSecond, 9 * kSecond, "exit")};
  Join join(std::move(info));
  join.allocate(1, 1 * kSecond);
  join.allocate(1, 5 * kSecond, kAddress + 2 * kBytes);
  join.fault(2, 6 * kSecond);                         // the child's first sign of life
  join.fault(2, 6 * kSecond, kAddress + 2 * kBytes);  // the parent has got this block since
  join.fault(1, 6 * kSecond, kAddress + 2 * kBytes);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false, true}));
}

TEST(AccessJoin, AForkedChildKeepsABlockThatItsParentFreesBeforeTheFirstAccess) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 3 * kSecond, 9 * kSecond, "exit")};
  Join join(std::move(info));
  join.allocate(1, 1 * kSecond);
  join.free(1, 4 * kSecond);
  join.fault(2, 6 * kSecond);
  join.fault(1, 6 * kSecond);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false}));
  EXPECT_EQ(join.site_of(2).lifetime_ns, 6 * kSecond);
}

TEST(AccessJoin, AForkedChildKeepsABlockOfTheProgramThatItsParentReplacesByExec) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 3 * kSecond, 9 * kSecond, "exit")};
  info.images.resize(2);
  info.images[0].proc_id = info.images[1].proc_id = 1;
  info.images[1].start_ns = 4 * kSecond;
  Join join(std::move(info));
  join.allocate(1, 1 * kSecond);
  join.fault(2, 6 * kSecond);
  join.fault(1, 6 * kSecond);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false}));
}

TEST(AccessJoin, AGrandchildHasBlocksOfAParentWithoutAnyAccess) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 3 * kSecond, 9 * kSecond, "exit"),
                    process(3, 2, 4 * kSecond, 9 * kSecond, "exit")};
  Join join(std::move(info), {{MLRUN_ACCESS_FAULTS}}, sampled_in({3}));
  join.allocate(1, 1 * kSecond);
  join.fault(3, 6 * kSecond);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true}));
  EXPECT_EQ(join.site_rows(), 2u) << "the child between them has accessed nothing";
}

model::TraceInfo one_that_forks() {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 3 * kSecond, 9 * kSecond, "exit")};
  return info;
}

TEST(AccessJoin, ABlockThatAChildInheritsAndDoesNotAccessIsItsParentsMemory) {
  Join join(one_that_forks(), {{MLRUN_ACCESS_COLD}, {MLRUN_ACCESS_FAULTS}});
  join.allocate(1, 1 * kSecond);
  join.window(1, 4 * kSecond, 5 * kSecond, MLRUN_ACCESS_COLD);
  join.window(2, 4 * kSecond, 5 * kSecond, MLRUN_ACCESS_COLD, false);
  join.joined(9 * kSecond);
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_COLD).hot_fraction(), 1);
  EXPECT_EQ(join.site_rows(), 2u) << "a row for each rung, of the parent";
}

TEST(AccessJoin, ABlockThatAChildInheritsCountsFromItsFirstAccessOn) {
  Join join(one_that_forks(), {{MLRUN_ACCESS_COLD}});
  join.allocate(1, 1 * kSecond);
  join.window(2, 4 * kSecond, 5 * kSecond, MLRUN_ACCESS_COLD, false);
  join.window(2, 5 * kSecond, 6 * kSecond, MLRUN_ACCESS_COLD);
  join.window(2, 6 * kSecond, 7 * kSecond, MLRUN_ACCESS_COLD, false);
  join.joined(9 * kSecond);
  const AccessSiteRow child = join.site_of(2);
  EXPECT_EQ(child.blocks, 1);
  EXPECT_EQ(child.byte_s, kBytes * 6.0) << "since the fork";
  EXPECT_EQ(child.seen_byte_s, kBytes * 2.0);
  EXPECT_EQ(child.hot_fraction(), 0.5);
}

TEST(AccessJoin, AChildHasOnlyTheBlocksThatItsRowsAreAbout) {
  AccessRow row;
  row.who.proc_id = 2;
  row.sample.kind = MLRUN_ACCESS_FAULT;
  row.sample.address = kAddress + kAccessPage + 1;
  SampledMemory sampled;
  note_sampled(sampled, row);
  Join join(one_that_forks(), {{MLRUN_ACCESS_FAULTS}}, sampled);
  join.allocate(1, 1 * kSecond);
  join.allocate(1, 1 * kSecond, kAddress + 2 * kBytes);
  join.fault(2, 6 * kSecond, kAddress + kAccessPage + 1);
  join.fault(2, 6 * kSecond, kAddress + 2 * kBytes);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false}));
  EXPECT_EQ(join.site_of(2).blocks, 1);
}

TEST(AccessJoin, BlocksThatAreNeverFreedEndWithTheirProcess) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 3 * kSecond, "exit"), process(2, 0, 0, 3 * kSecond, "running"),
                    process(3, 0, 0, 3 * kSecond, "no exit")};
  Join join(std::move(info));
  join.allocate(1, 1 * kSecond);
  join.allocate(2, 1 * kSecond);
  join.allocate(3, 1 * kSecond);
  join.fault(3, 7 * kSecond);  // it computed on, without a call, until it was killed
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, 2 * kSecond);
  EXPECT_EQ(join.site_of(2).lifetime_ns, 8 * kSecond);
  EXPECT_EQ(join.site_of(3).lifetime_ns, 6 * kSecond);
}

TEST(AccessJoin, BlocksOfAProcessThatRecordedItsExitDoNotLiveOnInLaterWindows) {
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 4 * kSecond, "exit")};
  info.processes[0].end_recorded = true;
  Join join(std::move(info), {{MLRUN_ACCESS_DAMON}});
  join.allocate(1, 1 * kSecond);
  join.window(1, 2 * kSecond, 3 * kSecond, MLRUN_ACCESS_DAMON);
  join.window(1, 3 * kSecond, 5 * kSecond, MLRUN_ACCESS_DAMON);
  join.window(1, 5 * kSecond, 7 * kSecond, MLRUN_ACCESS_DAMON);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, 3 * kSecond);
  EXPECT_EQ(join.site_of(1).seen_byte_s, kBytes * 2.0);
}

TEST(AccessJoin, AFreedAddressHasNoBlockUntilItIsUsedAgain) {
  Join join(one_process());
  join.allocate(1, 1 * kSecond);
  join.free(1, 2 * kSecond);
  join.fault(1, 3 * kSecond);
  join.allocate(1, 4 * kSecond);
  join.fault(1, 5 * kSecond);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{false, true}));
}

TEST(AccessJoin, MemoryThatIsTouchedOnceIsNotHotWhereTwoRungsSeeTheTouch) {
  Join join(one_process(), {{MLRUN_ACCESS_HINT_FAULTS}, {MLRUN_ACCESS_FAULTS}});
  join.allocate(1, 1 * kSecond);
  for (const uint64_t page : {0, 1}) {
    join.fault(1, 2 * kSecond, kAddress + page * kAccessPage, MLRUN_ACCESS_HINT_FAULTS);
    join.fault(1, 2 * kSecond, kAddress + page * kAccessPage, MLRUN_ACCESS_FAULTS);
  }
  join.fault(1, 3 * kSecond, kAddress, MLRUN_ACCESS_HINT_FAULTS);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(5, true));
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_HINT_FAULTS).touched_pages, 1);
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_FAULTS).touched_pages, 2);
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(join.rows()[i].is_first, i < 4) << i;
}

TEST(AccessJoin, AFaultThatFillsAPageAgainDoesNotMakeItHot) {
  Join join(one_process(), {{MLRUN_ACCESS_HINT_FAULTS}});
  const auto fault = [&](int64_t at_s, uint64_t address, uint32_t flags) {
    join.fault(1, at_s * kSecond, address, MLRUN_ACCESS_HINT_FAULTS, kAccessPage, flags);
  };
  join.allocate(1, 1 * kSecond);
  fault(2, kAddress, MLRUN_ACCESS_UNMAPPED);
  fault(2, kAddress + kAccessPage, MLRUN_ACCESS_UNMAPPED);
  fault(3, kAddress, MLRUN_ACCESS_UNMAPPED);  // given back by MADV_DONTNEED
  fault(4, kAddress + kAccessPage, 0);        // of NUMA balancing
  join.resize(1, 5 * kSecond, 5 * kSecond, kAddress, kAddress + 4 * kBytes, kBytes);
  fault(6, kAddress + 4 * kBytes, MLRUN_ACCESS_UNMAPPED);  // the copy
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(5, true));
  EXPECT_EQ(join.site_of(1).touched_pages, 1 + 1);  // the second page, in the old block and in the new one
}

// Samples had paused while the program filled its memory.
TEST(AccessJoin, AFaultThatFindsAPageMappedIsALaterAccessAlsoWithoutASampleOfTheFirst) {
  Join join(one_process(), {{MLRUN_ACCESS_HINT_FAULTS}});
  join.allocate(1, 1 * kSecond);
  join.fault(1, 2 * kSecond, kAddress, MLRUN_ACCESS_HINT_FAULTS, kAccessPage, MLRUN_ACCESS_MAPPED);
  join.fault(1, 2 * kSecond, kAddress + kAccessPage, MLRUN_ACCESS_HINT_FAULTS, kAccessPage, MLRUN_ACCESS_UNMAPPED);
  join.fault(1, 2 * kSecond, kAddress + 2 * kAccessPage, MLRUN_ACCESS_HINT_FAULTS);  // a kernel that does not say
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(3, true));
  EXPECT_EQ(join.site_of(1).touched_pages, 1);
  EXPECT_FALSE(join.rows()[0].is_first);
  EXPECT_TRUE(join.rows()[1].is_first);
  EXPECT_TRUE(join.rows()[2].is_first);
}

TEST(AccessJoin, PagesThatAForkedChildInheritedAreMappedBeforeItsFirstAccess) {
  constexpr uint64_t kHuge = 2 << 20;
  model::TraceInfo info;
  info.processes = {process(1, 0, 0, 9 * kSecond, "exit"), process(2, 1, 2 * kSecond, 9 * kSecond, "exit")};
  Join join(std::move(info), {{MLRUN_ACCESS_HINT_FAULTS}});
  const auto fault = [&](int64_t at_s, uint64_t address, uint64_t page) {
    join.fault(2, at_s * kSecond, address, MLRUN_ACCESS_HINT_FAULTS, page, MLRUN_ACCESS_MAPPED);
  };
  join.resize(1, 1 * kSecond, 1 * kSecond, 0, kAddress, 2 * kHuge);
  fault(3, kAddress, kHuge);  // the child's copy on write
  fault(3, kAddress + kHuge, kAccessPage);
  fault(4, kAddress + kHuge + kAccessPage, kAccessPage);
  join.resize(2, 5 * kSecond, 5 * kSecond, kAddress, kAddress, kHuge + 2 * kAccessPage);  // in place
  fault(6, kAddress + kHuge, kAccessPage);
  fault(6, kAddress + kHuge + kAccessPage, kAccessPage);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(5, true));
  EXPECT_EQ(join.site_of(2).touched_pages, 2);
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(join.rows()[i].is_first, i < 3) << i;
}

TEST(AccessJoin, AFaultOnAHugePageCountsForAllOfItsPagesInTheBlock) {
  constexpr uint64_t kHuge = 2 << 20, kHalf = kHuge / 2;
  Join join(one_process(), {{MLRUN_ACCESS_HINT_FAULTS}});
  join.resize(1, 1 * kSecond, 1 * kSecond, 0, kAddress + kHalf, kHuge);  // half of each of two huge pages
  join.fault(1, 2 * kSecond, kAddress + kHalf, MLRUN_ACCESS_HINT_FAULTS);
  join.fault(1, 3 * kSecond, kAddress + kHalf + 5 * kAccessPage + 1, MLRUN_ACCESS_HINT_FAULTS, kHuge);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(2, true));
  EXPECT_EQ(join.site_of(1).touched_pages, static_cast<int64_t>(kHalf / kAccessPage));
  EXPECT_EQ(join.site_of(1).hot_fraction(), 0.5);
  EXPECT_TRUE(join.rows()[0].is_first);
  EXPECT_FALSE(join.rows()[1].is_first);
}

TEST(AccessJoin, ABlockWithoutAHintFaultIsUnseenAndNotCold) {
  Join join(one_process(), {{MLRUN_ACCESS_HINT_FAULTS}, {MLRUN_ACCESS_FAULTS}});
  join.allocate(1, 1 * kSecond);
  join.allocate(1, 1 * kSecond, kAddress + kBytes);
  join.fault(1, 2 * kSecond, kAddress, MLRUN_ACCESS_HINT_FAULTS);  // the first touch
  join.free(1, 5 * kSecond);
  const AccessSiteRow bound = join.site_of(1, MLRUN_ACCESS_HINT_FAULTS);
  EXPECT_EQ(bound.seen_byte_s, 0);
  EXPECT_FALSE(bound.hot_fraction());
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_FAULTS).hot_fraction(), 0);
  for (const int64_t at_s : {5, 6}) join.fault(1, at_s * kSecond, kAddress + kBytes, MLRUN_ACCESS_HINT_FAULTS);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>({true, true, true}));
  const AccessSiteRow one_of_two = join.site_of(1, MLRUN_ACCESS_HINT_FAULTS);
  EXPECT_EQ(one_of_two.byte_s, kBytes * 12.0);
  EXPECT_EQ(one_of_two.seen_byte_s, kBytes * 8.0);
  EXPECT_EQ(one_of_two.hot_fraction(), 1.0 / (kBytes / kAccessPage));
}

TEST(AccessJoin, EventsSawNothingWhileTheyWereOff) {
  Join join(one_process(), {{MLRUN_ACCESS_FAULTS, 0.25}, {MLRUN_ACCESS_PRECISE, 1}});
  join.allocate(1, 1 * kSecond);
  EXPECT_TRUE(join.joined(9 * kSecond).empty());
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_FAULTS).seen_byte_s, kBytes * 2.0);
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_PRECISE).seen_byte_s, kBytes * 8.0);
  EXPECT_FALSE(join.site_of(1, MLRUN_ACCESS_PRECISE).hot_fraction()) << "samples do not say how much memory is hot";
}

TEST(AddressRanges, NeitherOverlapNorTouch) {
  AddressRanges ranges;
  EXPECT_TRUE(add_range(ranges, 100, 200));
  EXPECT_TRUE(add_range(ranges, 400, 500));
  EXPECT_FALSE(add_range(ranges, 100, 200));
  EXPECT_FALSE(add_range(ranges, 120, 180));
  EXPECT_TRUE(add_range(ranges, 200, 210));
  EXPECT_TRUE(add_range(ranges, 90, 100));
  EXPECT_EQ(ranges, (AddressRanges{{90, 210}, {400, 500}}));
  EXPECT_TRUE(add_range(ranges, 150, 450));
  EXPECT_EQ(ranges, (AddressRanges{{90, 500}}));
  EXPECT_TRUE(add_range(ranges, 80, 600));
  EXPECT_EQ(ranges, (AddressRanges{{80, 600}}));
}

TEST(AccessJoin, ABlockThatReallocShrinksHasNoPagesBeyondItsEnd) {
  Join join(one_process());
  join.allocate(1, 1 * kSecond);
  for (uint64_t at = 0; at < kBytes; at += kAccessPage) join.fault(1, 2 * kSecond, kAddress + at);
  join.resize(1, 3 * kSecond, 4 * kSecond, kAddress, kAddress, kBytes / 2);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(kBytes / kAccessPage, true));
  EXPECT_EQ(join.site_of(1).hot_fraction(), 1);
}

TEST(AccessJoin, ABlockThatReallocGrowsKeepsItsPages) {
  Join join(one_process());
  join.allocate(1, 1 * kSecond);
  join.fault(1, 2 * kSecond);
  join.resize(1, 3 * kSecond, 4 * kSecond, kAddress, kAddress + 4 * kBytes, 2 * kBytes);
  join.fault(1, 5 * kSecond, kAddress + 6 * kBytes - 1);
  EXPECT_EQ(join.joined(9 * kSecond), std::vector<bool>(2, true));
  EXPECT_EQ(join.site_of(1).touched_pages, 1 + 2);  // of the old block, of the new one
}

TEST(AccessJoin, ABlockThatAnotherThreadGetsWhileReallocMovesTheOldOneAwayStays) {
  Join join(one_process());
  join.allocate(1, 1 * kSecond);
  join.allocate(1, 3 * kSecond);  // within the realloc, which has given the address up
  join.resize(1, 2 * kSecond, 4 * kSecond, kAddress, kAddress + 4 * kBytes, 2 * kBytes);
  join.fault(1, 5 * kSecond);
  join.fault(1, 5 * kSecond, kAddress + 4 * kBytes);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, true}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, (2 + 6 + 5) * kSecond);
}

// The block may be freed in the pause, and another one may be at its address afterwards.
TEST(AccessJoin, NoAccessIsJoinedAcrossAPause) {
  Join join(one_process(), {{MLRUN_ACCESS_FAULTS}, {MLRUN_ACCESS_COLD}}, {}, {{3 * kSecond, 5 * kSecond}});
  join.allocate(1, 1 * kSecond);
  join.fault(1, 2 * kSecond);
  join.window(1, 2 * kSecond, 4 * kSecond, MLRUN_ACCESS_COLD);
  join.fault(1, 4 * kSecond);
  join.resize(1, 2 * kSecond, 4 * kSecond, 0, kAddress,
              kBytes);  // a call that began before the pause: the end of its block may have no row
  join.fault(1, 6 * kSecond);
  join.allocate(1, 7 * kSecond);
  join.fault(1, 8 * kSecond);
  join.window(1, 7 * kSecond, 8 * kSecond, MLRUN_ACCESS_COLD);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true, false, false, false, true, true}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, (2 + 2) * kSecond);
  EXPECT_EQ(join.site_of(1, MLRUN_ACCESS_COLD).samples, 1);
}

TEST(AccessJoin, WhatAPartlyTouchedWindowKeepsFromSeveralSitesIsCounted) {
  Join join(one_process(), {{MLRUN_ACCESS_COLD}});
  join.allocate(1, 1 * kSecond);
  // Half of the range is memory without a block.
  join.range(1, 1 * kSecond, 2 * kSecond, MLRUN_ACCESS_COLD, 2 * kBytes, kAccessPage);
  join.resize(1, 2 * kSecond, 2 * kSecond, 0, kAddress + kBytes, kBytes, 32);
  join.range(1, 2 * kSecond, 3 * kSecond, MLRUN_ACCESS_COLD, 2 * kBytes, kBytes, MLRUN_ACCESS_FILLING);
  join.range(1, 3 * kSecond, 5 * kSecond, MLRUN_ACCESS_COLD, 2 * kBytes, kBytes);
  join.range(1, 5 * kSecond, 8 * kSecond, MLRUN_ACCESS_COLD, 2 * kBytes, 0);  // none of it was touched: known for both
  EXPECT_EQ(join.joined(9 * kSecond).size(), 4u);
  EXPECT_EQ(join.site_of(1).shared_byte_s, kBytes * 2.0);
  EXPECT_EQ(join.site_of(1).seen_byte_s, kBytes * 3.0);
}

TEST(AccessJoin, AReallocToLessThanAllocMinEndsTheBlock) {
  Join join(one_process());
  join.allocate(1, 1 * kSecond);
  join.resize(1, 2 * kSecond, 3 * kSecond, kAddress, kAddress, kAllocMin - 8);
  join.fault(1, 4 * kSecond);  // its free has no row: it may be another block by now
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{false}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, 2 * kSecond);
}

TEST(AccessJoin, WhereTheAllocatorReportsNoSizesSmallBlocksAreFollowedToo) {
  Join join(one_process());
  join.resize(1, 1 * kSecond, 1 * kSecond, 0, kAddress, 16);  // only such an allocator has small ones listed
  join.resize(1, 2 * kSecond, 3 * kSecond, kAddress, kAddress + kBytes, 32);
  join.fault(1, 4 * kSecond, kAddress + kBytes);
  join.free(1, 5 * kSecond, kAddress + kBytes);
  EXPECT_EQ(join.joined(9 * kSecond), (std::vector<bool>{true}));
  EXPECT_EQ(join.site_of(1).lifetime_ns, (2 + 2) * kSecond);
}

}  // namespace
}  // namespace mlrun::trace
