// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/heap_watch.h"

#include <algorithm>

#include "runner/collect/frame_text.h"
#include "runner/util/radix_sort.h"

namespace mlrun::sums {

namespace {
constexpr uint64_t kSeq = (uint64_t{1} << 63) + 2;
constexpr size_t kSitesMax = size_t{1} << 16;  // the maximum of a HeapMeter
constexpr size_t kSitesWritten = 1000;         // per process; further sites are written as one
constexpr int32_t kImage = 1;                  // any constant: each meter has the records of one process number
}  // namespace

HeapWatch::Heap* HeapWatch::heap_of(uint32_t process, uint64_t channel) {
  const auto found = heaps_.find(process);
  if (found != heaps_.end()) return found->second.meter ? &found->second : nullptr;
  if (heaps_.size() >= kHeapsMax || channel == 0) return nullptr;
  return &heaps_.emplace(process, Heap{channel, std::make_unique<summary::HeapMeter>(alloc_min_bytes_, room_), {}})
              .first->second;
}

void HeapWatch::add(uint32_t process, uint64_t channel, const decode::AllocEvent& alloc, uint64_t end) {
  if (!heap_of(process, channel)) return;
  waiting_.push_back({static_cast<int64_t>(std::min<uint64_t>(end, INT64_MAX)), process, alloc});
  if (waiting_.size() >= kWaitingMax) follow(UINT64_MAX);
}

void HeapWatch::add(uint32_t process, uint64_t channel, const model::AllocSmallRow& row) {
  Heap* heap = heap_of(process, channel);
  if (!heap) return;
  model::AllocSmallRow of_image = row;
  of_image.origin.image_id = kImage;
  heap->meter->add(of_image);
}

void HeapWatch::follow(const Waiting& waiting) {
  const auto heap = heaps_.find(waiting.process);
  if (heap == heaps_.end() || !heap->second.meter) return;
  const decode::AllocEvent& alloc = waiting.alloc;
  model::AllocRow row;
  row.origin.image_id = kImage;
  row.origin.ts_ns = static_cast<int64_t>(clock_.monotonic_ns(static_cast<uint64_t>(waiting.time_ns)));
  row.op = alloc.kind;
  row.address = alloc.address;
  row.size = static_cast<int64_t>(alloc.size);
  row.usable = static_cast<int64_t>(alloc.usable);
  row.old_address = alloc.old_address;
  row.old_usable = static_cast<int64_t>(std::min<uint64_t>(alloc.old_usable, INT64_MAX));
  const uint64_t site = site_of(alloc);
  if (const uint32_t* known = site == 0 ? nullptr : site_numbers_.find(site)) {
    row.site_library = *known;
  } else if (site != 0 && sites_.size() < kSitesMax) {
    row.site_library = static_cast<int64_t>(sites_.size());
    site_numbers_.at(site) = static_cast<uint32_t>(sites_.size());
    sites_.push_back(site);
  }
  heap->second.meter->add(row);
}

void HeapWatch::follow(uint64_t clock) {
  util::sort_nearly_sorted(waiting_, spare_);
  size_t done = 0;
  while (done < waiting_.size() && static_cast<uint64_t>(waiting_[done].time_ns) <= clock) follow(waiting_[done++]);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(done));
}

void HeapWatch::pass(uint64_t clock) {
  follow(clock);
  for (const uint32_t process : ended_) {
    const auto heap = heaps_.find(process);
    if (heap == heaps_.end() || !heap->second.meter) continue;
    heap->second.frame = frame_of(*heap->second.meter);
    room_.left += heap->second.meter->live_blocks();
    heap->second.meter.reset();
  }
  ended_.clear();
}

std::string HeapWatch::frame_of(summary::HeapMeter& meter) const {
  meter.finish();
  const auto libraries = meter.libraries();
  std::vector<mlrun_heap_site> sites;
  uint64_t others = 0;
  for (const summary::HeapLibrary& library : libraries) {
    const uint64_t site = sites_[static_cast<size_t>(library.library)];
    const auto bytes = static_cast<uint64_t>(library.live_bytes);
    if (site == 0 || sites.size() >= kSitesWritten) {
      others += bytes;
    } else {
      sites.push_back({site, bytes});
    }
  }
  if (others != 0) sites.push_back({0, others});
  const summary::HeapPeak& peak = meter.peak();
  const mlrun_frame_heap body{static_cast<__u64>(peak.ts_ns),
                              static_cast<__u64>(peak.recorded_bytes),
                              static_cast<__u64>(peak.counted_bytes),
                              static_cast<__u64>(meter.recorded_allocations()),
                              static_cast<__u64>(meter.counted_allocations()),
                              static_cast<__u64>(room_.left_out_blocks),
                              static_cast<__u64>(room_.left_out_bytes),
                              sites.size()};
  std::string frame(reinterpret_cast<const char*>(&body), sizeof body);
  frame.append(reinterpret_cast<const char*>(sites.data()), sites.size() * sizeof sites[0]);
  return frame;
}

void HeapWatch::write(std::string& text) {
  for (auto& [process, heap] : heaps_) {
    const std::string payload = heap.meter ? frame_of(*heap.meter) : heap.frame;
    mlrun_frame frame{};
    frame.type = MLRUN_FRAME_HEAP;
    frame.channel = heap.channel;
    frame.seq = kSeq;
    collect::append_frame(text, 0, frame, payload.data(), static_cast<uint32_t>(payload.size()));
  }
}

}  // namespace mlrun::sums
