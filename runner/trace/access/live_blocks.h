// SPDX-License-Identifier: Apache-2.0
// Which block of a process was at an address at a moment: follows the table of allocations in its own order. A block is there from
// the end of the call that returned it to the beginning of the one that frees it; an access inside that call belongs to it too, if no
// other block was there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace mlrun::trace {

// Where blocks come from.
struct AllocSite {
  int32_t proc_id = 0;
  int64_t site_library = 0, site_offset = 0;
  int32_t stack_id = 0;
  auto operator<=>(const AllocSite&) const = default;
};

// Pages of a live block with samples. A bit for each.
struct PagesSeen {
  std::vector<bool> once, again;  // sampled, and sampled after that
};

struct LiveBlock {
  uint64_t address = 0, bytes = 0;
  int64_t begin_ns = 0;       // of the call
  int64_t ts_ns = 0;          // of its row
  int64_t lives_from_ns = 0;  // in this process
  size_t site = 0;            // index of a list of sites
  PagesSeen pages;
  [[nodiscard]] uint64_t end() const { return address + bytes; }
};

class LiveBlocks {
 public:
  // nullptr: none is known there.
  LiveBlock* find(uint64_t address);
  LiveBlock& add(LiveBlock block);
  // The block that was there, for the last time. False: none is known.
  bool take(uint64_t address, LiveBlock& block);
  // Visits those that overlap [start, end).
  template <typename Visit>
  void each_in(uint64_t start, uint64_t end, Visit visit) {
    auto at = blocks_.upper_bound(start);
    if (at != blocks_.begin() && std::prev(at)->second.end() > start) --at;
    for (; at != blocks_.end() && at->first < end; ++at) visit(at->second);
  }
  template <typename Visit>
  void each(Visit visit) {
    for (auto& [address, block] : blocks_) visit(block);
  }

 private:
  std::map<uint64_t, LiveBlock> blocks_;  // by address
};

}  // namespace mlrun::trace
