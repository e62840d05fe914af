// SPDX-License-Identifier: Apache-2.0
// Anonymous memory that one process mapped itself, by mmap, munmap and mremap: how much at once, at most. Python's objects
// lie there, pymalloc's arenas being mapped and not allocated. What libc maps inside malloc is no call, and in the heap.
//
// Mappings without any access (PROT_NONE) are address space kept free, and count only when something is mapped over them.
// A forked child starts at nothing, as in its heap.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>

#include "runner/model/rows.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Room for mappings, of all processes: some 80 bytes each.
struct MappingRoom {
  int64_t left = int64_t{1} << 18;
  int64_t left_out_bytes = 0;  // found no room
};

class MappingMeter {
 public:
  explicit MappingMeter(MappingRoom& room) : room_(&room) {}

  // Any call, in order of end time; those on other things than mappings are passed over.
  void add(const model::CallRow& row);

  [[nodiscard]] const MappingPeak& peak() const { return peak_; }

 private:
  struct Span {
    uint64_t end = 0;
    int64_t made_ns = 0;
  };

  bool enter(int32_t image_id);
  void map(const model::CallRow& row, uint64_t begin, uint64_t bytes);
  void remap(const model::CallRow& row);
  // Takes [begin, end) out of what was mapped before that moment.
  void cut(uint64_t begin, uint64_t end, int64_t before_ns);
  void insert(uint64_t begin, const Span& span);

  MappingRoom* room_;
  std::map<uint64_t, Span> spans_;  // by beginning; none overlap
  uint64_t bytes_ = 0;
  MappingPeak peak_{0, 0};
  int32_t image_id_ = 0;
  std::unordered_set<int32_t> left_images_;  // replaced by exec
};

}  // namespace mlrun::summary
