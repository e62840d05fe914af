// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/heap_meter.h"

#include <algorithm>
#include <cmath>

#include "runner/events/record.h"
#include "runner/summary/meters/sample_weight.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

void HeapMeter::add(const model::AllocRow& row) {
  if (!enter(row.origin.image_id)) return;
  apply_counted();
  if (row.op == MLRUN_FREE) return remove(row.address, 0);
  const bool again = row.op == MLRUN_REALLOC || row.op == MLRUN_REALLOCARRAY;
  if (row.address == 0 && (!again || row.size != 0)) return;  // the call failed: nothing changed
  if (again) remove(row.old_address, row.old_usable);
  // A small block has no row for its allocation, only a count; this realloc ends the block.
  const bool was_counted = again && !lists_all_ && row.old_usable > 0 && row.old_usable < alloc_min_bytes_;
  if (was_counted) util::add_to(counted_, -row.old_usable);
  if (row.address == 0) return;
  ++recorded_allocations_;
  const int64_t bytes = std::max(row.usable, row.size);
  if (bytes < alloc_min_bytes_) {
    // A realloc has a row if the old or the new block is large. A new small block is counted when it is freed.
    if (again && !lists_all_) return util::add_to(counted_, bytes);
    lists_all_ = true;
  }
  insert(row, bytes);
  note_peak(row.origin.ts_ns);
}

void HeapMeter::add(const model::AllocSmallRow& row) {
  if (!enter(row.origin.image_id)) return;
  if (row.origin.ts_ns != pending_ts_ns_) apply_counted();
  pending_ts_ns_ = row.origin.ts_ns;
  util::add_to(pending_, row.bytes);
  util::add_to(counted_allocations_, row.mallocs);
}

void HeapMeter::finish() {
  apply_counted();
  for (size_t i = 0; i < libraries_.size(); ++i) change(i, 0);
}

std::vector<HeapLibrary> HeapMeter::libraries() const {
  std::vector<HeapLibrary> out;
  for (const Library& library : libraries_) {
    if (library.at_peak > 0) out.push_back({library.name_id, {}, library.at_peak});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.live_bytes > b.live_bytes; });
  return out;
}

// An exec empties the heap. Returns false for a late row of an image that exec has replaced.
bool HeapMeter::enter(int32_t image_id) {
  if (image_id == image_id_) return true;
  if (std::find(left_images_.begin(), left_images_.end(), image_id) != left_images_.end()) return false;
  if (image_id_ != 0) {
    apply_counted();
    left_images_.push_back(image_id_);
    for (size_t i = 0; i < libraries_.size(); ++i) change(i, -libraries_[i].live);
    recorded_ = 0;
    room_->left += int64_t(live_.size());
    live_.clear();
    counted_ = 0;
  }
  image_id_ = image_id;
  return true;
}

void HeapMeter::insert(const model::AllocRow& row, int64_t bytes) {
  bool made = false;
  uint64_t& block = live_.at(row.address, &made);
  if (!made) {
    forget(block);  // the previous block's free was not recorded
  } else if (room_->left == 0) {
    live_.erase(row.address);
    ++room_->left_out_blocks;
    util::add_to(room_->left_out_bytes, bytes);
    return;
  } else {
    --room_->left;
  }
  const size_t library = library_index(row.site_library);
  block = uint64_t(bytes) << kLibraryBits | library;
  util::add_to(recorded_, bytes);
  change(library, stands_for(bytes));
}

// expected_bytes != 0: removes only a block of that size, since during a realloc another thread may already have got the old address.
void HeapMeter::remove(uint64_t address, int64_t expected_bytes) {
  const uint64_t* found = address == 0 ? nullptr : live_.find(address);
  if (found == nullptr) return;
  const auto bytes = int64_t(*found >> kLibraryBits);
  if (expected_bytes != 0 && bytes != expected_bytes) return;
  forget(*found);
  live_.erase(address);
  ++room_->left;
}

void HeapMeter::forget(uint64_t block) {
  const auto bytes = int64_t(block >> kLibraryBits);
  util::add_to(recorded_, -bytes);
  change(block & ((1u << kLibraryBits) - 1), -stands_for(bytes));
}

// The bytes that a sampled block represents. The same for its allocation and its free.
int64_t HeapMeter::stands_for(int64_t bytes) const {
  return alloc_sample_bytes_ == 0 ? bytes : std::llround(sample_weight(bytes, alloc_sample_bytes_) * double(bytes));
}

void HeapMeter::change(size_t index, int64_t bytes) {
  Library& library = libraries_[index];
  if (library.peak_number != peak_number_) {
    library.at_peak = library.live;
    library.peak_number = peak_number_;
  }
  util::add_to(library.live, bytes);
}

void HeapMeter::apply_counted() {
  if (pending_ts_ns_ == 0) return;
  util::add_to(counted_, pending_);
  note_peak(pending_ts_ns_);
  pending_ = pending_ts_ns_ = 0;
}

void HeapMeter::note_peak(int64_t ts_ns) {
  const int64_t counted = std::max<int64_t>(counted_, 0);
  if (util::sum_of(recorded_, counted) <= peak_.bytes()) return;
  peak_ = {ts_ns, recorded_, counted};
  ++peak_number_;
}

size_t HeapMeter::library_index(int64_t name_id) {
  if (name_id == 0) return 0;
  bool made = false;
  uint32_t& index = library_indexes_.at(uint64_t(name_id), &made);
  if (made && libraries_.size() < size_t{1} << kLibraryBits) {
    index = uint32_t(libraries_.size());
    libraries_.push_back({name_id, 0, 0, peak_number_});
  }
  return index;
}

}  // namespace mlrun::summary
