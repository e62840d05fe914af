// SPDX-License-Identifier: Apache-2.0
// What processes have counted by each rule of --place, in the arena (events/placement.h), as mlrun reads it. The traced processes can write to the
// area, so sizes, numbers and states in it are checked: damage makes figures wrong, and nothing else.
//
//   process ──▶ slot: its counts ─── it has ended, and slots are scarce ──▶ slot of the sum; its own is unused again
//     └───────▶ caches: counts ───── it has ended, and caches are scarce ─▶ its slot; they are unused again
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runner/events/placement.h"
#include "runner/placement/page_sampler.h"

namespace mlrun::placement {

// A process that has placed a block or inherited one, or the sum of those that have ended.
struct CountedProcess {
  uint32_t slot = 0,
           number = 0;  // number: from 1 on, in the order in which processes asked for a slot; 0: the sum
  uint32_t pid = 0;     // as the process sees it; 0: unknown
  uint64_t pid_namespace = 0, window = 0, window_bytes = 0;
  uint64_t mappings_left_out = 0;  // a bit for each rule: mappings() may lack some of its mappings
  uint32_t vdso_page = 0;          // of struct mlrun_place_slot

  bool operator==(const CountedProcess&) const = default;
};

class CountsArea {
 public:
  // `rules`: their number. An area that is damaged has no processes.
  CountsArea(mlrun_placement& area, uint32_t rules);

  [[nodiscard]] uint32_t slots() const { return slots_; }
  // From this slot on are those that forked children have which only inherit placed memory (others can have them too).
  [[nodiscard]] uint32_t inherited_from() const { return slots_ - slots_ / MLRUN_PLACE_INHERITED_PART; }
  [[nodiscard]] std::vector<CountedProcess> processes() const;                    // the oldest first, the sum last
  [[nodiscard]] std::vector<mlrun_place_count> counts_of(uint32_t slot) const;    // by rule
  [[nodiscard]] std::map<uint32_t, std::vector<PlacedMapping>> mappings() const;  // by slot, the newest first
  [[nodiscard]] const mlrun_placement& head() const { return area_; }

  // Of processes that have ended, or execute another program: other mappings can then be listed.
  void forget_mappings(const std::set<uint32_t>& slots);

  [[nodiscard]] bool caches_are_scarce() const;  // more than half are in use

  // Adds what the caches of these processes have counted to their slots; others can then have the caches. Requires: they write no more.
  void give_back_caches(const std::set<uint32_t>& slots);

  // Adds the counts of a process to the sum; other processes can then have its slot. Requires: it writes no more.
  void give_back(uint32_t slot);

 private:
  [[nodiscard]] char* at(uint64_t offset) const { return reinterpret_cast<char*>(&area_) + offset; }
  [[nodiscard]] mlrun_place_slot& slot_at(uint32_t slot) const;
  [[nodiscard]] mlrun_place_count& count_at(uint32_t slot, uint32_t rule) const;

  mlrun_placement& area_;
  uint32_t rules_, slots_ = 0, slots_offset_, slot_bytes_;
  std::optional<uint32_t> sum_;  // its slot
};

}  // namespace mlrun::placement
