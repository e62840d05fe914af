// SPDX-License-Identifier: Apache-2.0
// The heap of one process: live bytes, their peak, and the peak by library.
//
// Recorded blocks (rows of `alloc`) are tracked one by one, so their part is exact; counted ones (`alloc_small`) are
// known at the collector's checks. A block inherited by fork is not counted when it is freed.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/summary/summary.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

// Number of live blocks that may still be tracked, over all processes: 16 bytes each, at most 192 MiB.
struct BlockRoom {
  int64_t left = int64_t{4} << 20;
  int64_t left_out_blocks = 0;  // did not fit
  int64_t left_out_bytes = 0;
};

class HeapMeter {
 public:
  HeapMeter(int64_t alloc_min_bytes, BlockRoom& room) : HeapMeter(alloc_min_bytes, 0, room) {}
  // With sampling, the sum of recorded and counted blocks is still exact; figures of libraries are estimates.
  HeapMeter(int64_t alloc_min_bytes, int64_t alloc_sample_bytes, BlockRoom& room)
      : alloc_min_bytes_(alloc_min_bytes), alloc_sample_bytes_(alloc_sample_bytes), room_(&room) {}

  void add(const model::AllocRow& row);
  void add(const model::AllocSmallRow& row);
  // Optional: loads the row's blocks into the CPU cache. Call it some rows before add(row).
  void prefetch(const model::AllocRow& row) const {
    live_.prefetch(row.address);
    if (row.old_address != 0) live_.prefetch(row.old_address);
  }
  // Call it after the rows so far and before the functions below, which return the figures at that time. Further rows may follow.
  void finish();

  [[nodiscard]] int64_t live_blocks() const { return int64_t(live_.size()); }  // tracked ones
  [[nodiscard]] const HeapPeak& peak() const { return peak_; }
  [[nodiscard]] int64_t recorded_allocations() const { return recorded_allocations_; }
  [[nodiscard]] int64_t counted_allocations() const { return counted_allocations_; }
  // Recorded bytes live at the peak, by library (name_id), largest first; names are left empty.
  [[nodiscard]] std::vector<HeapLibrary> libraries() const;

 private:
  static constexpr int kLibraryBits = 16;  // a live block is usable bytes << kLibraryBits | index in libraries_

  // at_peak is only updated before `live` changes: as long as it has not changed since the peak, `live` is the value at the peak.
  struct Library {
    int64_t name_id = 0;
    int64_t live = 0, at_peak = 0;
    uint64_t peak_number = 0;  // the peak that at_peak belongs to
  };

  bool enter(int32_t image_id);
  void insert(const model::AllocRow& row, int64_t bytes);
  void remove(uint64_t address, int64_t expected_bytes);
  void forget(uint64_t block);
  void change(size_t library, int64_t bytes);
  [[nodiscard]] int64_t stands_for(int64_t bytes) const;
  void apply_counted();
  void note_peak(int64_t ts_ns);
  size_t library_index(int64_t name_id);

  int64_t alloc_min_bytes_, alloc_sample_bytes_;
  BlockRoom* room_;
  util::FlatMap<uint64_t> live_;
  std::vector<Library> libraries_ = std::vector<Library>(1);  // the first: unknown
  util::FlatMap<uint32_t> library_indexes_;
  int64_t recorded_ = 0, counted_ = 0;
  int64_t pending_ = 0, pending_ts_ns_ = 0;  // counts of one check are applied together
  HeapPeak peak_;
  uint64_t peak_number_ = 0;
  int64_t recorded_allocations_ = 0, counted_allocations_ = 0;
  int32_t image_id_ = 0;
  std::vector<int32_t> left_images_;  // replaced by exec
  bool lists_all_ = false;  // the process's allocator has no malloc_usable_size: all of its blocks are recorded
};

}  // namespace mlrun::summary
