// SPDX-License-Identifier: Apache-2.0
// What mlrun reads in the memory in which processes count, and how it gives their slots to others. Real processes: t887, t888.
#include "runner/placement/counts_area.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "runner/events/placed_mappings.h"
#include "runner/placement/resolve.h"
#include "runner/placement/rule_text.h"

namespace mlrun::placement {
namespace {

constexpr uint32_t kRules = 2;

class CountsAreaTest : public testing::Test {
 protected:
  CountsAreaTest() {
    const std::string bytes =
        encoded_rules({parse_rule("mmap size >= 1M -> default").value(), parse_rule("-> default").value()}).value();
    std::memcpy(memory_, bytes.data(), bytes.size());
  }

  mlrun_placement& head() { return *reinterpret_cast<mlrun_placement*>(memory_); }
  mlrun_place_slot& slot(uint32_t number) {
    return *reinterpret_cast<mlrun_place_slot*>(memory_ + head().slots_offset + number * head().slot_bytes);
  }
  mlrun_place_cache* caches() { return reinterpret_cast<mlrun_place_cache*>(memory_ + MLRUN_PLACE_CACHES_OFFSET); }
  mlrun_place_mapping* entries() {
    return reinterpret_cast<mlrun_place_mappings*>(memory_ + MLRUN_PLACE_MAPPINGS_OFFSET)->entry;
  }

  // A process that has counted so many blocks by the second rule, the last two of them in a cache.
  void add_process(uint32_t at, uint32_t pid, uint64_t matches) {
    mlrun_place_slot& added = slot(at);
    added.pid = pid;
    added.number = ++head().slots_wanted;
    auto* const counts = reinterpret_cast<mlrun_place_count*>(&added + 1);
    counts[1] = {matches - 2, 100, 1, 50, 8192, 4096 * matches};
    added.state = MLRUN_PLACE_TAKEN;
    mlrun_place_cache& cache = caches()[head().caches_taken++];
    cache.matches = 2;
    cache.cached_bytes = 4096;
    cache.rule = 1;
    cache.slot = at + 1;
  }

  alignas(64) char memory_[MLRUN_PLACEMENT_BYTES] = {};
};

TEST_F(CountsAreaTest, ProcessesAreInTheOrderInWhichTheyBegan) {
  add_process(1, 70, 5);
  add_process(0, 60, 6);
  slot(0).mappings_left_out = 1;
  const CountsArea area(head(), kRules);
  const auto processes = area.processes();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0], (CountedProcess{1, 1, 70, 0, 0, 0, 0}));
  EXPECT_EQ(processes[1], (CountedProcess{0, 2, 60, 0, 0, 0, 1}));
  const auto counts = area.counts_of(0);
  EXPECT_EQ(counts[0].matches, 0u);
  EXPECT_EQ(counts[1].matches, 6u);
  EXPECT_EQ(counts[1].live_bytes, 4096u);
}

TEST_F(CountsAreaTest, AChildThatInheritsHasASlotOfTheLastQuarter) {
  const CountsArea area(head(), kRules);
  EXPECT_GE(area.inherited_from(), area.slots() * 3 / 4);
  add_process(area.slots() - 1, 70, 5);
  slot(area.slots() - 1).vdso_page = 9;
  const auto processes = area.processes();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].slot, area.slots() - 1);
  EXPECT_EQ(processes[0].vdso_page, 9u);
}

TEST_F(CountsAreaTest, SlotsOfEndedProcessesAreForOthersAndTheirCountsAreKept) {
  for (uint32_t i = 0; i < 3; i++) add_process(i, 50 + i, 10 + i);
  CountsArea area(head(), kRules);
  area.give_back(0);
  area.give_back(1);
  EXPECT_EQ(slot(1).state, uint32_t{MLRUN_PLACE_UNUSED});
  EXPECT_EQ(head().caches_taken, 1u);
  add_process(1, 99, 100);  // as a new process would
  const auto processes = area.processes();
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].pid, 52u);
  EXPECT_EQ(processes[1].pid, 99u);
  EXPECT_EQ(area.counts_of(1)[1].matches, 100u);
  EXPECT_EQ(processes[2], (CountedProcess{0, 0, 0, 0, 0, 0, 0})) << "the sum comes last";
  const mlrun_place_count sum = area.counts_of(0)[1];
  EXPECT_EQ(sum.matches, 10u + 11u);
  EXPECT_EQ(sum.bytes, 200u);
  EXPECT_EQ(sum.fallbacks, 2u);
  EXPECT_EQ(sum.live_bytes, 2 * 4096u);
  EXPECT_EQ(sum.peak_bytes, 4096u * 11);
  EXPECT_EQ(CountsArea(head(), kRules).processes().size(), 3u) << "after mlrun was killed";
}

TEST_F(CountsAreaTest, CachesOfEndedProcessesAreForOthersAndTheirCountsAreKept) {
  for (uint32_t i = 0; i < 3; i++) add_process(i, 50 + i, 10 + i);
  CountsArea area(head(), kRules);
  const mlrun_place_count before = area.counts_of(1)[1];
  EXPECT_FALSE(area.caches_are_scarce());
  head().caches_taken = MLRUN_PLACE_CACHES / 2 + 1;
  EXPECT_TRUE(area.caches_are_scarce());
  area.give_back_caches({0, 1});
  EXPECT_FALSE(area.caches_are_scarce());
  EXPECT_EQ(caches()[1].slot, 0u);
  EXPECT_EQ(caches()[2].slot, 3u) << "of a process that lives";
  const mlrun_place_count after = area.counts_of(1)[1];
  EXPECT_EQ(after.matches, before.matches);
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  caches()[1].matches = 7;  // as another process would
  caches()[1].rule = 1;
  caches()[1].slot = 3;
  EXPECT_EQ(area.counts_of(1)[1].matches, before.matches);
}

TEST_F(CountsAreaTest, TheSumLacksMappingsThatOneOfItsProcessesLacked) {
  for (uint32_t i = 0; i < 3; i++) add_process(i, 50 + i, 10 + i);
  slot(0).mappings_left_out = 1;
  slot(1).mappings_left_out = 2;
  CountsArea area(head(), kRules);
  area.give_back(0);
  area.give_back(1);
  EXPECT_EQ(area.processes().back().mappings_left_out, 3u);
  EXPECT_EQ(slot(1).mappings_left_out, 0u) << "of the next process";
}

TEST_F(CountsAreaTest, MappingsThatAreThereAreListedTheNewestFirst) {
  entries()[0] = {0x1000, 0x1000, 4, 0, 7};
  entries()[1] = {0x5000, 0x2000, 4, 0, 9};
  entries()[2] = {0x8000, 0x1000, 4, 0, MLRUN_PLACE_BUSY + 4};
  entries()[3] = {0x9000, 0x1000, 5, 0, 8};
  entries()[4] = {0xa000, 0x1000, 4, kRules, 10};
  CountsArea area(head(), kRules);
  auto mappings = area.mappings();
  ASSERT_EQ(mappings.size(), 2u);
  ASSERT_EQ(mappings[4].size(), 2u);
  EXPECT_EQ(mappings[4][0].start, 0x5000u);
  EXPECT_EQ(mappings[4][0].end, 0x7000u);
  EXPECT_EQ(mappings[4][1].start, 0x1000u);
  area.forget_mappings({4});
  EXPECT_EQ(area.mappings().size(), 1u);
  EXPECT_EQ(entries()[2].number, 0u) << "the process ended while it wrote";
  EXPECT_EQ(entries()[3].number, 8u);
}

TEST_F(CountsAreaTest, ADamagedAreaHasNoProcesses) {
  add_process(0, 50, 10);
  EXPECT_TRUE(CountsArea(head(), kRules + 1).processes().empty());
  head().slots_count = 100'000;
  EXPECT_TRUE(CountsArea(head(), kRules).processes().empty());
}

}  // namespace
}  // namespace mlrun::placement
