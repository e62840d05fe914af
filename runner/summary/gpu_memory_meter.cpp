// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu_memory_meter.h"

#include <algorithm>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

using model::GpuMemoryOperation;
using model::GpuWorkRow;

// Half-way between a process's first allocation and its end.
int64_t half_way(const model::TraceInfo& info, int32_t proc_id, int64_t first_ns) {
  const auto process = std::find_if(info.processes.begin(), info.processes.end(),
                                    [&](const model::ProcessRow& row) { return row.proc_id == proc_id; });
  const int64_t end_ns = process == info.processes.end() ? first_ns : std::max(first_ns, process->last_ns);
  return first_ns + (end_ns - first_ns) / 2;
}

}  // namespace

size_t GpuMemoryMeter::HashPlace::operator()(const Place& place) const {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (place.address + static_cast<uint32_t>(place.proc_id)) * kOdd >> 16;
}

void GpuMemoryMeter::add(const GpuWorkRow& row) {
  switch (model::operation_of(row.detail)) {
    case GpuMemoryOperation::kAllocation: return allocate(row);
    case GpuMemoryOperation::kRelease: return release(row);
    case GpuMemoryOperation::kUnknown: return;
  }
}

void GpuMemoryMeter::allocate(const GpuWorkRow& row) {
  const Key key{row.origin.proc_id, row.gpu_id, model::memory_of(row.detail)};
  const Place place{row.origin.proc_id, row.address};
  const auto old = blocks_.find(place);
  if (old != blocks_.end()) {  // its release was not seen
    Group& owner = groups_[old->second.key];
    ++owner.sums.unseen_releases;
    util::add_to(owner.current_bytes, -old->second.bytes);
    blocks_.erase(old);
  }
  Group& group = groups_[key];
  first_ns_.emplace(row.origin.proc_id, row.origin.ts_ns);
  ++group.sums.allocations;
  util::add_to(group.sums.allocated_bytes, row.bytes);
  if (blocks_.size() >= kFollowedMax) {
    ++group.sums.not_followed;
    return;
  }
  blocks_.emplace(place, Block{key, row.bytes, row.origin.ts_ns});
  util::add_to(group.current_bytes, row.bytes);
  group.sums.peak_bytes = std::max(group.sums.peak_bytes, group.current_bytes);
}

// The allocation tells where it counts: a release may name another device, and no size.
void GpuMemoryMeter::release(const GpuWorkRow& row) {
  const auto block = blocks_.find({row.origin.proc_id, row.address});
  if (block == blocks_.end()) {
    Group& group = groups_[{row.origin.proc_id, row.gpu_id, model::memory_of(row.detail)}];
    ++group.sums.releases;
    ++group.sums.unmatched_releases;
    return;
  }
  Group& group = groups_[block->second.key];
  ++group.sums.releases;
  util::add_to(group.current_bytes, -block->second.bytes);
  blocks_.erase(block);
}

std::vector<GpuMemorySummary> GpuMemoryMeter::finish(const model::TraceInfo& info) const {
  std::map<Key, GpuMemorySummary> sums;
  for (const auto& [key, group] : groups_) {
    GpuMemorySummary& row = sums[key] = group.sums;
    row.proc_id = key.proc_id;
    row.gpu_id = key.gpu_id;
    row.memory = model::kGpuMemories[key.memory];
  }
  std::unordered_map<int32_t, int64_t> half_ns;
  for (const auto& [proc_id, first_ns] : first_ns_) half_ns[proc_id] = half_way(info, proc_id, first_ns);
  for (const auto& [place, block] : blocks_) {
    GpuMemorySummary& row = sums[block.key];
    ++row.kept;
    util::add_to(row.kept_bytes, block.bytes);
    if (block.ts_ns <= half_ns[place.proc_id]) continue;
    ++row.kept_late;
    util::add_to(row.kept_late_bytes, block.bytes);
  }
  std::vector<GpuMemorySummary> out;
  out.reserve(sums.size());
  for (auto& [key, row] : sums) out.push_back(std::move(row));
  return out;
}

}  // namespace mlrun::summary
