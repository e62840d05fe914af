// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/gap_finder.h"

#include <algorithm>

#include "runner/events/record.h"

namespace mlrun::idle {

namespace {

constexpr size_t kStretchesMost = 8192, kStretchesKept = 4096;

bool has_times(const model::GpuWorkRow& row) {
  return row.clock != MLRUN_GPU_CLOCK_NONE && row.clock != MLRUN_GPU_CLOCK_OUTSIDE;
}

// In the order of ends all that a stretch touches stands last. What it swallows gives its beginning, where that is
// earlier.
template <typename T>
void swallow_last(std::vector<T>& stretches, T& into) {
  while (!stretches.empty() && stretches.back().end_ns >= into.start_ns) {
    const int64_t end_ns = std::max(into.end_ns, stretches.back().end_ns);
    if (stretches.back().start_ns <= into.start_ns) into = stretches.back();
    into.end_ns = end_ns;
    stretches.pop_back();
  }
}

}  // namespace

void GapFinder::add(const model::GpuWorkRow& row) {
  if (!model::is_on_device(row.kind) || !has_times(row)) return;
  const Stretch when{row.origin.ts_ns, row.origin.ts_ns + row.dur_ns};
  if (row.is_communication) return add_communication(row.gpu_id, when);
  Device& device = devices_[row.gpu_id];
  Busy busy{when, row.origin.thread_id, row.launch_ns, row.correlation};
  if (busy.start_ns < device.settled_until_ns) busy.start_ns = std::min(device.settled_until_ns, busy.end_ns);
  swallow_last(device.busy, busy);
  device.busy.push_back(busy);
  if (device.busy.size() >= kStretchesMost) settle(row.gpu_id, device, kStretchesKept);
}

void GapFinder::add_communication(int32_t gpu_id, Stretch talk) {
  std::vector<Stretch>& talks = found_.communication[gpu_id];
  const size_t before = talks.size();
  swallow_last(talks, talk);
  talks_ -= before - talks.size();
  if (talks_ >= kTalksMax) return;
  talks.push_back(talk);
  ++talks_;
}

void GapFinder::settle(int32_t gpu_id, Device& device, size_t keep) {
  if (device.busy.size() <= keep) return;
  const size_t settled = device.busy.size() - keep;
  for (size_t i = 0; i < settled; ++i) {
    const int64_t idle_since_ns = i == 0 ? device.settled_until_ns : device.busy[i - 1].end_ns;
    if (idle_since_ns != INT64_MIN) add_gap(gpu_id, idle_since_ns, device.busy[i]);
  }
  device.settled_until_ns = device.busy[settled - 1].end_ns;
  device.busy.erase(device.busy.begin(), device.busy.begin() + static_cast<std::ptrdiff_t>(settled));
}

void GapFinder::add_gap(int32_t gpu_id, int64_t start_ns, const Busy& next) {
  const int64_t length_ns = next.start_ns - start_ns;
  if (length_ns <= 0) return;
  if (length_ns >= kListedNs && found_.gaps.size() < kGapsMax) {
    found_.gaps.push_back({{start_ns, next.start_ns}, gpu_id, next.thread_id, next.launch_ns, next.correlation});
    return;
  }
  Unlisted& unlisted = found_.unlisted[gpu_id];
  ++unlisted.gaps;
  unlisted.time_ns += length_ns;
}

GapFinder::Found GapFinder::finish() {
  for (auto& [gpu_id, device] : devices_) settle(gpu_id, device, 0);
  std::sort(found_.gaps.begin(), found_.gaps.end(), [](const Gap& a, const Gap& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.gpu_id < b.gpu_id;
  });
  return std::move(found_);
}

}  // namespace mlrun::idle
