// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/gap_finder.h"

#include <algorithm>

namespace mlrun::idle {

namespace {

constexpr size_t kStretchesMost = 8192, kStretchesKept = 4096;

void count(Unlisted& unlisted, const Stretch& gap) {
  ++unlisted.gaps;
  unlisted.time_ns += gap.end_ns - gap.start_ns;
  unlisted.from_ns = std::min(unlisted.from_ns, gap.start_ns);
  unlisted.until_ns = std::max(unlisted.until_ns, gap.end_ns);
}

// Removes the gaps that end after `from_ns`, and lowers begins_ns to the earliest start among them. Returns their number.
template <typename T>
size_t take_last(std::vector<T>& gaps, int64_t from_ns, int64_t& begins_ns) {
  const size_t before = gaps.size();
  for (; !gaps.empty() && gaps.back().end_ns > from_ns; gaps.pop_back()) {
    begins_ns = std::min(begins_ns, gaps.back().start_ns);
  }
  return before - gaps.size();
}

// Removes all stretches that touch `into` and merges them with it. As the list is in order of end, they are its last ones.
// `into` gets the launch of the earliest of them.
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
  Busy busy{when, row.origin.thread_id, row.launch_ns, row.correlation, row.mark_id, row.mark_path};
  if (busy.start_ns < device.settled_until_ns) take_back(device, busy.start_ns);
  swallow_last(device.busy, busy);
  device.busy.push_back(busy);
  if (device.busy.size() >= kStretchesMost) settle(row.gpu_id, device, kStretchesKept);
}

void GapFinder::add_communication(int32_t gpu_id, Stretch talk) {
  std::vector<Stretch>& talks = found_.communication[gpu_id];
  const size_t before = talks.size();
  swallow_last(talks, talk);
  talks_ -= before - talks.size();
  if (talks_ >= kTalksMax) {
    ++found_.talks_left_out;
    return;
  }
  talks.push_back(talk);
  ++talks_;
}

// Takes back the gaps that end after `from_ns`, the start of an operation that ends after them. A gap that contains
// `from_ns` is found again with this time as its end.
void GapFinder::take_back(Device& device, int64_t from_ns) {
  int64_t begins_ns = from_ns;
  listed_ -= take_last(device.gaps, from_ns, begins_ns);
  short_ -= take_last(device.short_gaps, from_ns, begins_ns);
  if (std::max(device.counted_short.until_ns, device.beyond.until_ns) > from_ns) ++found_.not_taken_back;
  device.settled_until_ns = begins_ns;
}

void GapFinder::settle(int32_t gpu_id, Device& device, size_t keep) {
  if (device.busy.size() <= keep) return;
  const size_t settled = device.busy.size() - keep;
  for (size_t i = 0; i < settled; ++i) {
    if (device.settled_until_ns != INT64_MIN) add_gap(gpu_id, device, device.busy[i]);
    device.settled_until_ns = device.busy[i].end_ns;
  }
  device.busy.erase(device.busy.begin(), device.busy.begin() + static_cast<std::ptrdiff_t>(settled));
}

void GapFinder::add_gap(int32_t gpu_id, Device& device, const Busy& next) {
  const Stretch gap{device.settled_until_ns, next.start_ns};
  if (gap.end_ns <= gap.start_ns) return;
  if (gap.end_ns - gap.start_ns < kListedNs) return add_short(device, gap);
  if (listed_ >= kGapsMax) return count(device.beyond, gap);
  device.gaps.push_back({gap, gpu_id, next.thread_id, next.launch_ns, next.correlation, next.mark_id, next.mark_path});
  ++listed_;
}

void GapFinder::add_short(Device& device, const Stretch& gap) {
  device.short_gaps.push_back(gap);
  if (++short_ > kShortMax) count_short(device, (device.short_gaps.size() + 1) / 2);
}

// Moves the first `gaps` short gaps to counted_short. Counted gaps can no longer be removed.
void GapFinder::count_short(Device& device, size_t gaps) {
  const auto end = device.short_gaps.begin() + static_cast<std::ptrdiff_t>(gaps);
  std::for_each(device.short_gaps.begin(), end, [&](const Stretch& gap) { count(device.counted_short, gap); });
  device.short_gaps.erase(device.short_gaps.begin(), end);
  short_ -= gaps;
}

GapFinder::Found GapFinder::finish() {
  for (auto& [gpu_id, device] : devices_) {
    settle(gpu_id, device, 0);
    count_short(device, device.short_gaps.size());
    if (device.counted_short.gaps > 0) found_.unlisted[gpu_id] = device.counted_short;
    if (device.beyond.gaps > 0) found_.beyond[gpu_id] = device.beyond;
    found_.gaps.insert(found_.gaps.end(), device.gaps.begin(), device.gaps.end());
    device.gaps = {};
  }
  std::sort(found_.gaps.begin(), found_.gaps.end(), [](const Gap& a, const Gap& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.gpu_id < b.gpu_id;
  });
  return std::move(found_);
}

}  // namespace mlrun::idle
