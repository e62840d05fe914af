// SPDX-License-Identifier: Apache-2.0
// Copies finished records out of segments. A segment is read up to its first unfinished unit. This is either the unit
// that the thread writes next, or a hole: a record begun by code that died or jumped out (longjmp), or by code that was
// interrupted and will finish it later.
//
//   open     the thread's newest segment: wait at the unfinished unit
//   closed   the channel has a segment with a newer header: no new record begins here. After a second without progress
//            the unit counts as a hole, and reading continues at the next tag
//   dead     the thread has ended: the unit counts as a hole at once
//
// A segment with a hole is not freed at once while its thread lives: an outer stack frame may still write there. It is
// parked for 10 s, unless a quarter of the pool is parked.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/collect/channel.h"
#include "runner/collect/mapped_arena.h"
#include "runner/collect/pass.h"
#include "runner/collect/record_walk.h"
#include "runner/collect/segment_pool.h"
#include "runner/collect/spool_writer.h"

namespace mlrun::collect {

struct DrainStatistics {
  uint64_t records = 0, calls = 0, allocs = 0;
  uint64_t holes = 0, hole_bytes = 0, corrupt_segments = 0, parked = 0;
};

class SegmentDrain {
 public:
  SegmentDrain(const Arena& arena, SegmentPool& pool, Spool& spool, ChannelClock clock);

  // Notes the owner of the segment; returns the clock in the segment's header if this owner has written the header,
  // else 0.
  uint64_t note_owner(uint32_t index, uint32_t owner_word, uint32_t channel_id, const Pass& pass);
  void note_free(uint32_t index);

  // Requires: note_owner() in this pass. Frees the segment once it is drained. `channel` null: unknown owner; the
  // segment is abandoned after 10 s.
  void drain(uint32_t index, Channel* channel, const Pass& pass);

  [[nodiscard]] const DrainStatistics& statistics() const { return statistics_; }

 private:
  struct State {
    uint32_t owner_word = 0;
    uint32_t offset = 0;
    uint64_t header_clock = 0;
    uint64_t progress_ns = 0;  // when new records were last found
    uint64_t progress_clock = 0;
    uint64_t scanned_ns = 0;       // when a stuck segment was last searched for tags
    uint64_t parked_until_ns = 0;  // 0: not parked
    bool holed = false;
  };
  enum class Step { kWait, kSkippedHole, kEnd, kRefused };
  Step step(uint32_t index, Channel& channel, const Pass& pass, bool closed, bool after_hole);
  bool put(uint32_t index, Channel& channel, const Pass& pass, const Walk& walk, bool after_hole);
  bool look_behind_hole(uint32_t index, Channel& channel, const Pass& pass);
  void record_gap(Channel& channel, const Pass& pass, mlrun_gap_reason reason, uint64_t since_ns, uint64_t bytes);
  void advance(uint32_t index, uint32_t offset);
  void finish_segment(uint32_t index, Channel& channel, const Pass& pass);
  void release(uint32_t index);

  const Arena& arena_;
  SegmentPool& pool_;
  Spool& spool_;
  ChannelClock clock_;
  std::vector<State> states_;
  uint32_t parked_ = 0;
  DrainStatistics statistics_;
};

}  // namespace mlrun::collect
