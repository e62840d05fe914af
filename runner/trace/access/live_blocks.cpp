// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/access/live_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mlrun::trace {

size_t LiveBlock::page_count() const { return bytes == 0 ? 0 : (end() - 1) / kAccessPage - address / kAccessPage + 1; }

PagesSeen* LiveBlock::pages_of(uint16_t rung) {
  const auto found = std::find_if(pages.begin(), pages.end(), [&](const PagesSeen& seen) { return seen.rung == rung; });
  return found == pages.end() ? nullptr : &*found;
}

LiveBlock* LiveBlocks::find(uint64_t address) {
  auto at = blocks_.upper_bound(address);
  if (at == blocks_.begin()) return nullptr;
  LiveBlock& block = std::prev(at)->second;
  return address < block.end() ? &block : nullptr;
}

LiveBlock& LiveBlocks::add(LiveBlock block) {
  const uint64_t address = block.address;
  return blocks_.insert_or_assign(address, std::move(block)).first->second;
}

bool LiveBlocks::take(uint64_t address, LiveBlock& block, int64_t by_ns) {
  const auto at = blocks_.find(address);
  if (at == blocks_.end() || at->second.returned_ns > by_ns) return false;
  block = std::move(at->second);
  blocks_.erase(at);
  return true;
}

}  // namespace mlrun::trace
