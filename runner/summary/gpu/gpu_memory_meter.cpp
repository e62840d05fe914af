// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_memory_meter.h"

#include <algorithm>
#include <set>

#include "runner/summary/meters/frame_names.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

using model::GpuMemoryOperation;
using model::GpuWorkRow;

// The midpoint between a process's first allocation and its end.
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

GpuMemoryMeter::Key GpuMemoryMeter::key_of(const GpuWorkRow& row) {
  return {row.origin.proc_id, row.gpu_id, row.is_of_uprobe ? row.context : 0, model::memory_of(row.detail)};
}

void GpuMemoryMeter::allocate(const GpuWorkRow& row) {
  const Key key = key_of(row);
  const Place place{row.origin.proc_id, row.address, row.is_handle};
  Block block{key, row.bytes, row.origin.ts_ns, row.origin.ts_ns + row.dur_ns};
  block.stack_id = row.stack_id;
  const auto old = blocks_.find(place);
  if (old != blocks_.end()) {  // the release of the previous allocation has not been seen
    block.has_replaced = true;
    block.replaced = old->second.key;
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
  blocks_.emplace(place, block);
  util::add_to(group.current_bytes, row.bytes);
  group.sums.peak_bytes = std::max(group.sums.peak_bytes, group.current_bytes);
}

// The allocation determines device and size, since a release may name another device and no size. A release that began
// before this allocation ended belongs to the previous one, whose address was reused before its release returned.
void GpuMemoryMeter::release(const GpuWorkRow& row) {
  const auto block = blocks_.find({row.origin.proc_id, row.address, row.is_handle});
  if (block == blocks_.end()) {
    Group& group = groups_[key_of(row)];
    ++group.sums.releases;
    ++group.sums.unmatched_releases;
    return;
  }
  if (block->second.has_replaced && row.origin.ts_ns < block->second.end_ns) {
    Group& former = groups_[block->second.replaced];
    --former.sums.unseen_releases;
    ++former.sums.releases;
    block->second.has_replaced = false;
    return;
  }
  Group& group = groups_[block->second.key];
  ++group.sums.releases;
  if (row.is_with_context) {
    ++group.sums.with_context;
    util::add_to(group.sums.with_context_bytes, block->second.bytes);
  }
  util::add_to(group.current_bytes, -block->second.bytes);
  blocks_.erase(block);
}

std::unordered_map<int32_t, int64_t> GpuMemoryMeter::half_times(const model::TraceInfo& info) const {
  std::unordered_map<int32_t, int64_t> half_ns;
  for (const auto& [proc_id, first_ns] : first_ns_) half_ns[proc_id] = half_way(info, proc_id, first_ns);
  return half_ns;
}

std::vector<GpuMemorySummary> GpuMemoryMeter::finish(const model::TraceInfo& info) const {
  std::map<Key, GpuMemorySummary> sums;
  for (const auto& [key, group] : groups_) {
    GpuMemorySummary& row = sums[key] = group.sums;
    row.proc_id = key.proc_id;
    row.gpu_id = key.gpu_id;
    row.context = static_cast<int32_t>(key.context);
    row.memory = model::kGpuMemories[key.memory];
  }
  std::set<int32_t> ended;
  for (const model::ProcessRow& process : info.processes) {
    if (process.ended) ended.insert(process.proc_id);
  }
  std::unordered_map<int32_t, int64_t> half_ns = half_times(info);
  for (const auto& [place, block] : blocks_) {
    GpuMemorySummary& row = sums[block.key];
    ++row.kept;
    util::add_to(row.kept_bytes, block.bytes);
    if (ended.contains(place.proc_id)) {
      ++row.at_exit;
      util::add_to(row.at_exit_bytes, block.bytes);
    }
    if (block.ts_ns <= half_ns[place.proc_id]) continue;
    ++row.kept_late;
    util::add_to(row.kept_late_bytes, block.bytes);
  }
  std::vector<GpuMemorySummary> out;
  out.reserve(sums.size());
  for (auto& [key, row] : sums) out.push_back(std::move(row));
  return out;
}

std::vector<GpuStackSummary> GpuMemoryMeter::stacks(const model::TraceInfo& info) const {
  std::map<std::tuple<int32_t, int32_t, size_t, int32_t>, GpuStackSummary> groups;
  std::unordered_map<int32_t, int64_t> half_ns = half_times(info);
  bool is_any_known = false;
  for (const auto& [place, block] : blocks_) {
    GpuStackSummary& row = groups[{place.proc_id, block.key.gpu_id, block.key.memory, block.stack_id}];
    is_any_known = is_any_known || block.stack_id != 0;
    ++row.blocks;
    util::add_to(row.bytes, block.bytes);
    if (block.ts_ns <= half_ns[place.proc_id]) continue;
    ++row.late;
    util::add_to(row.late_bytes, block.bytes);
  }
  if (!is_any_known) return {};
  std::vector<GpuStackSummary> out;
  for (auto& [key, row] : groups) {
    size_t memory = 0;
    std::tie(row.proc_id, row.gpu_id, memory, row.stack_id) = key;
    row.memory = model::kGpuMemories[memory];
    out.push_back(std::move(row));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (out.size() > kTopGpuStacks) out.resize(kTopGpuStacks);
  for (GpuStackSummary& row : out) row.frames = frames_text(info.stacks, row.stack_id);
  return out;
}

}  // namespace mlrun::summary
