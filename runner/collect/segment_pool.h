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

  // One allocation step if few segments are free, more while threads wait for one. A segment takes 25 us, so this runs
  // between passes, ahead of need (a traced process would pay for it, and die of its own `ulimit -f`).
  void extend();

  // Frees a segment. `owner_word`: its value so far. When the lap wraps, the segment is zeroed.
  void release(uint32_t index, uint32_t owner_word);

  [[nodiscard]] uint32_t available() const { return available_; }
  // Every segment that was ever claimed is below this index.
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
  bool exhausted_ = false;  // the file system is full
};

}  // namespace mlrun::collect
