// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/host_buffer_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runner/trace/access/alloc_events.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

using model::GpuKind;
using model::GpuMemoryOperation;
using model::GpuWorkRow;

constexpr size_t kPinnedMemory = 2;  // index in model::kGpuMemories

size_t host_memory(const GpuWorkRow& row) {
  const size_t memory = row.detail >> (model::is_to_host(row.detail) ? 16 : 8) & 0xff;
  return memory < model::kGpuMemories.size() ? memory : 0;
}

}  // namespace

void HostBufferPass::add(const GpuWorkRow& row) {
  if (row.kind == GpuKind::kMemory) return add_pinned(row);
  const bool has_host_side = model::is_from_host(row.detail) || model::is_to_host(row.detail);
  if (row.kind != GpuKind::kMemcpy || !has_host_side) return;
  const Copy copy{.call_ns = row.host.call_ns,
                  .address = row.host.address,
                  .proc_id = row.origin.proc_id,
                  .gpu_id = row.gpu_id,
                  .gpu_node = row.host.gpu_node,
                  .error = static_cast<int32_t>(row.host.error),
                  .memory = host_memory(row),
                  .bytes = row.bytes,
                  .time_ns = row.dur_ns,
                  .known_bytes = row.host.known_bytes,
                  .misplaced_bytes = std::max<int64_t>(row.host.misplaced_bytes, 0)};
  if (copy.misplaced_bytes == 0 || misplaced_.size() >= kFollowedMax) return add_to_group(copy);
  misplaced_.push_back(copy);
}

void HostBufferPass::add_pinned(const GpuWorkRow& row) {
  const GpuMemoryOperation operation = model::operation_of(row.detail);
  const bool is_pinned = model::memory_of(row.detail) == kPinnedMemory && !row.is_of_uprobe;
  if (!is_pinned || operation == GpuMemoryOperation::kUnknown || pinned_.size() >= kFollowedMax) return;
  AllocEvent event;
  event.proc_id = row.origin.proc_id;
  event.is_free = operation == GpuMemoryOperation::kRelease;
  event.begin_ns = row.origin.ts_ns;
  event.end_ns = row.origin.ts_ns + row.dur_ns;
  event.address = row.address;
  event.bytes = static_cast<uint64_t>(std::max<int64_t>(row.bytes, 0));
  event.site = {event.proc_id, row.site_library, row.site_offset, row.stack_id};
  pinned_.push_back(event);
}

void HostBufferPass::add_to_group(const Copy& copy) {
  summary::GpuHostSummary& group = groups_[{copy.proc_id, copy.gpu_id, copy.memory, copy.site}];
  group.gpu_node = copy.gpu_node;
  ++group.copies;
  util::add_to(group.bytes, copy.bytes);
  util::add_to(group.time_ns, copy.time_ns);
  util::add_to(group.known_bytes, copy.known_bytes);
  if (copy.address != 0) util::add_to(group.addressed_bytes, copy.bytes);
  if (copy.address != 0 && copy.known_bytes == 0) group.error = copy.error;
  if (copy.misplaced_bytes == 0) return;
  util::add_to(group.misplaced_bytes, copy.misplaced_bytes);
  const double share =
      static_cast<double>(copy.misplaced_bytes) / static_cast<double>(std::max(copy.bytes, int64_t{1}));
  util::add_to(group.misplaced_ns, std::llround(static_cast<double>(copy.time_ns) * std::min(share, 1.0)));
}

// Passes all events of pinned memory and copies before `before_ns` to the join in order of time; at equal times the event
// comes first, so that a copy finds the block of its buffer.
void HostBufferPass::take(AccessJoin& join, int64_t before_ns) {
  for (;;) {
    const int64_t pinned_ns = next_pinned_ < pinned_.size() ? pinned_[next_pinned_].moment_ns() : before_ns;
    const int64_t copy_ns = next_copy_ < misplaced_.size() ? misplaced_[next_copy_].call_ns : before_ns;
    if (std::min(pinned_ns, copy_ns) >= before_ns) return;
    if (pinned_ns <= copy_ns) {
      join.add(pinned_[next_pinned_++]);
      continue;
    }
    join.add(misplaced_[next_copy_++].access());
  }
}

AccessRow HostBufferPass::Copy::access() const {
  AccessRow row;
  row.who.proc_id = proc_id;
  row.ts_ns = call_ns;
  row.sample.kind = MLRUN_ACCESS_LOAD;
  row.sample.address = address;
  return row;
}

Status HostBufferPass::find_sites(const model::TraceInfo& info, int64_t alloc_min_bytes,
                                  const std::vector<RecordingPause>& pauses, const std::string& folder) {
  if (misplaced_.empty()) return {};
  std::stable_sort(misplaced_.begin(), misplaced_.end(),
                   [](const auto& a, const auto& b) { return a.call_ns < b.call_ns; });
  std::stable_sort(pinned_.begin(), pinned_.end(),
                   [](const auto& a, const auto& b) { return a.moment_ns() < b.moment_ns(); });
  size_t joined = 0;  // the join returns rows in the order in which take() added them
  SampledMemory sampled;
  for (const Copy& copy : misplaced_) note_sampled(sampled, copy.access());
  AccessJoin join(info, alloc_min_bytes, {}, pauses, sampled, [&](const AccessRow& row) {
    if (row.has_site) misplaced_[joined].site = row.site;
    ++joined;
  });
  const auto last_event_ns = join_events(folder, join, [&](int64_t before_ns) -> Status {
    take(join, before_ns);
    return {};
  });
  if (!last_event_ns) return tl::make_unexpected(last_event_ns.error());
  join.finish(std::max(misplaced_.back().call_ns, *last_event_ns));
  for (const Copy& copy : misplaced_) add_to_group(copy);
  misplaced_.clear();
  return {};
}

std::vector<summary::GpuHostSummary> HostBufferPass::finish(const model::TraceInfo& info) const {
  std::vector<summary::GpuHostSummary> rows;
  for (const auto& [key, sums] : groups_) {
    const AllocSite& site = std::get<AllocSite>(key);
    summary::GpuHostSummary& row = rows.emplace_back(sums);
    row.proc_id = std::get<0>(key);
    row.gpu_id = std::get<1>(key);
    row.memory = model::kGpuMemories.at(std::get<2>(key));
    row.stack_id = site.stack_id;
    if (site.proc_id != 0) row.allocated_by = site_text(info, site);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.misplaced_bytes > b.misplaced_bytes; });
  if (rows.size() > summary::kTopGpuHosts) rows.resize(summary::kTopGpuHosts);
  return rows;
}

}  // namespace mlrun::trace
