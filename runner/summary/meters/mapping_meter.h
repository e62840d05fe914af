// SPDX-License-Identifier: Apache-2.0
// Peak of private anonymous memory that one process mapped itself and may read or write, by mmap, munmap, mremap and
// mprotect. It is the size of these mappings in /proc/PID/maps, touched or not. libc's mappings in malloc and for
// threads' stacks are not calls of the program.
//
// Reserved address space (PROT_NONE) counts when mprotect makes it accessible, or when something is mapped over it.
// Mappings accessible at once with MAP_NORESERVE count separately: programs request far more than they use. A forked
// child starts at zero, as with its heap.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>

#include "runner/model/rows.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Number of mappings that may still be tracked, over all processes: about 80 bytes each.
struct MappingRoom {
  int64_t left = int64_t{1} << 18;
  int64_t left_out_bytes = 0;  // bytes of accessible mappings (without MAP_NORESERVE) that were not tracked
};

class MappingMeter {
 public:
  explicit MappingMeter(MappingRoom& room) : room_(&room) {}

  // Call it for each row in order of end time; rows that are not about mappings are ignored.
  void add(const model::CallRow& row);

  [[nodiscard]] const MappingPeak& peak() const { return peak_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }  // size of the mappings after the last row
  [[nodiscard]] int64_t noreserve_bytes() const { return noreserve_bytes_; }

 private:
  enum class Use : uint8_t { kClosed, kOpen, kNoReserve };  // no access; counted; counted separately
  struct Span {
    uint64_t end = 0;
    int64_t made_ns = 0;
    Use use = Use::kOpen;
  };

  bool enter(int32_t image_id);
  void map(const model::CallRow& row, uint64_t begin, uint64_t bytes);
  void remap(const model::CallRow& row);
  void protect(const model::CallRow& row);
  void count(const Span& span, uint64_t begin, int64_t sign);
  void note_peak(int64_t ts_ns);
  void split_at(uint64_t address);
  void join(uint64_t begin, uint64_t end);
  // Removes [begin, end) from mappings that were made up to before_ns.
  void cut(uint64_t begin, uint64_t end, int64_t before_ns);
  void insert(uint64_t begin, const Span& span);

  MappingRoom* room_;
  std::map<uint64_t, Span> spans_;  // by beginning; none overlap
  int64_t bytes_ = 0, noreserve_bytes_ = 0;
  MappingPeak peak_{0, 0, 0, 0, {}};
  int32_t image_id_ = 0;
  std::unordered_set<int32_t> left_images_;  // replaced by exec
};

}  // namespace mlrun::summary
