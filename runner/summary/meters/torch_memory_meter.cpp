// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/torch_memory_meter.h"

#include <algorithm>

#include "runner/util/saturating.h"

namespace mlrun::summary {

size_t TorchMemoryMeter::HashPlace::operator()(const Place& place) const {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (place.address + static_cast<uint32_t>(place.proc_id)) * kOdd >> 16;
}

void TorchMemoryMeter::add(model::TorchMemoryRow& row) { row.is_release ? release(row) : allocate(row); }

void TorchMemoryMeter::allocate(model::TorchMemoryRow& row) {
  const Place place{row.origin.proc_id, row.address};
  if (const auto old = pieces_.find(place); old != pieces_.end()) {  // the old piece's release was not recorded
    Group& owner = groups_[{row.origin.proc_id, old->second.device}];
    ++owner.sums.unseen_releases;
    util::add_to(owner.held_bytes, -old->second.bytes);
    pieces_.erase(old);
  }
  Group& group = groups_[{row.origin.proc_id, row.device}];
  ++group.sums.allocations;
  util::add_to(group.sums.allocated_bytes, row.bytes);
  if (pieces_.size() >= kFollowedMax) {
    ++group.sums.not_followed;
  } else {
    pieces_.emplace(place, Piece{row.device, row.bytes});
    util::add_to(group.held_bytes, row.bytes);
    group.sums.peak_bytes = std::max(group.sums.peak_bytes, group.held_bytes);
  }
  row.held_bytes = group.held_bytes;
}

void TorchMemoryMeter::release(model::TorchMemoryRow& row) {
  if (row.address == 0) return;  // null pointer
  const auto piece = pieces_.find({row.origin.proc_id, row.address});
  if (piece == pieces_.end()) {
    Group& group = groups_[{row.origin.proc_id, -1}];
    ++group.sums.releases;
    ++group.sums.unmatched_releases;
    return;
  }
  row.bytes = piece->second.bytes;
  row.device = piece->second.device;
  Group& group = groups_[{row.origin.proc_id, row.device}];
  ++group.sums.releases;
  util::add_to(group.held_bytes, -row.bytes);
  row.held_bytes = group.held_bytes;
  pieces_.erase(piece);
}

std::vector<TorchMemorySummary> TorchMemoryMeter::finish() const {
  std::map<Key, TorchMemorySummary> sums;
  for (const auto& [key, group] : groups_) {
    TorchMemorySummary& row = sums[key] = group.sums;
    row.proc_id = key.proc_id;
    row.device = key.device;
    row.kept_bytes = group.held_bytes;
  }
  for (const auto& [place, piece] : pieces_) ++sums[{place.proc_id, piece.device}].kept;
  std::vector<TorchMemorySummary> out;
  out.reserve(sums.size());
  for (const auto& [key, row] : sums) out.push_back(row);
  return out;
}

}  // namespace mlrun::summary
