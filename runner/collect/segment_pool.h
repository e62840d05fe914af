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

  // Takes one allocation step if few segments are free, and more while threads wait for a segment. A segment takes
  // 25 us. mlrun allocates ahead of need, between passes: a traced process would lose that time, and could exceed its
  // own `ulimit -f`, which kills it.
  void extend();

  // Frees a segment. `owner_word`: the segment's owner word before. When the lap wraps, the segment is zeroed.
  void release(uint32_t index, uint32_t owner_word);

  [[nodiscard]] uint32_t available() const { return available_; }
  // One more than the largest index of a segment that was ever claimed.
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
