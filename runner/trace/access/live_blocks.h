// SPDX-License-Identifier: Apache-2.0
// The live heap blocks of a process by address, as rows of `alloc` add and remove them in order of time. A block lives from
// the end of the call that returned it to the beginning of the call that frees it. An access during the first call belongs
// to the block too, if no other block was at its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

namespace mlrun::trace {

// The code that allocated a block.
struct AllocSite {
  int32_t proc_id = 0;
  int64_t site_library = 0, site_offset = 0;
  int32_t stack_id = 0;
  auto operator<=>(const AllocSite&) const = default;
};

inline constexpr uint64_t kAccessPage = 4096;  // in bytes: the unit in which accessed pages of a block are counted

// The pages of a live block that faults of one rung (method of --access) have hit, a bit for each page.
struct PagesSeen {
  uint16_t rung = 0;
  std::vector<bool> once, again;  // hit by a fault; hit by one after the first touch, which found it mapped
  void resize(size_t pages) {
    once.resize(pages);
    again.resize(pages);
  }
};

struct LiveBlock {
  uint64_t address = 0, bytes = 0;
  int64_t begin_ns = 0, returned_ns = 0;  // of the call that returned it: start (`ts` of its row in `alloc`), end
  int64_t lives_from_ns = 0;              // in this process: for a block inherited by fork, since the fork
  size_t site = 0;                        // index in the list of sites
  bool is_inherited = false;              // by fork, and not accessed since: it is its parent's memory
  bool has_parents_pages = false;         // by fork, whether accessed since or not
  std::vector<PagesSeen> pages;           // of rungs with a fault in the block
  [[nodiscard]] uint64_t end() const { return address + bytes; }
  [[nodiscard]] size_t page_count() const;
  // nullptr: no fault of the rung has hit the block.
  PagesSeen* pages_of(uint16_t rung);
};

class LiveBlocks {
 public:
  // The block that contains the address; nullptr: none is known.
  LiveBlock* find(uint64_t address);
  LiveBlock& add(LiveBlock block);
  // Removes the block that begins at the address and returns it in `block`. False: none is known that was there by `by_ns`.
  bool take(uint64_t address, LiveBlock& block, int64_t by_ns = std::numeric_limits<int64_t>::max());
  // Visits the blocks that overlap [start, end).
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
