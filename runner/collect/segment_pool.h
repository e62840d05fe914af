// SPDX-License-Identifier: Apache-2.0
// The pool of segments: allocates them in the arena file ahead of need, takes drained ones back.
#pragma once

#include <cstdint>

#include "runner/collect/mapped_arena.h"

namespace mlrun::collect {

class SegmentPool {
 public:
  // Makes the first segments available, if none are yet.
  explicit SegmentPool(const Arena& arena);

  // One step of allocation, if few segments are free, and more while threads wait for one: 25 us a segment, so it is done
  // between passes, before they are needed (a target that allocates would die of `ulimit -f`, and pay).
  void extend();

  // Gives a segment back. `owner_word` is what stood there. At the wrap of the lap the segment is zeroed.
  void release(uint32_t index, uint32_t owner_word);

  [[nodiscard]] uint32_t available() const { return available_; }
  // Segments that were ever claimed lie below.
  [[nodiscard]] uint32_t high() const;
  [[nodiscard]] bool half_used() const;
  [[nodiscard]] bool wants_more() const;
  [[nodiscard]] uint64_t released() const { return released_; }

 private:
  [[nodiscard]] uint32_t free_segments() const;
  bool allocate(uint32_t count);
  void extend_by_one_step();
  void wake_waiters();

  const Arena& arena_;
  uint32_t available_;
  uint64_t released_ = 0;
  bool exhausted_ = false;  // the file system gave no more
};

}  // namespace mlrun::collect
