// SPDX-License-Identifier: Apache-2.0
// Where in the spool the rows of a stretch of time stand. The collector appends what it finds as time goes by, so runs
// of frames
// ("chunks", half a mebibyte or one frame) cover short times that overlap a little; a row is in no other chunk than its
// own.
//
// The times of the run are cut in slices of about as many rows each, which are then read and sorted one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/trace_clock.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Rows that end in [first_ns, end_ns), of frames that begin in [first_offset, end_offset) of the spool.
struct Slice {
  int64_t first_ns = 0, end_ns = kLatestNs + 1;
  uint64_t first_offset = 0, end_offset = UINT64_MAX;
};

struct Chunk {
  uint64_t begin = 0, end = 0;  // of its frames' beginnings, in the spool
  int64_t min_ns = 0, max_ns = 0;
  uint64_t rows = 0;
};

class ChunkList {
 public:
  // In the order of the spool. `clock_kind`: of the frame's stamps.
  void add(const FrameNote& frame, mlrun_clock_kind clock_kind);
  void end_block() { open_ = false; }

  // Requires: all frames were added; nothing else was called before.
  void place(const TraceClock& clock);

  // Chunks that may hold rows of the slice, in the order of the spool.
  [[nodiscard]] std::vector<Chunk> chunks_of(const Slice& slice) const;
  // All rows of these chunks.
  [[nodiscard]] uint64_t rows_at_most(const Slice& slice) const;

  // The whole run in slices, in order of time, of about `target_rows` rows and never more than twice as many. `count`
  // tells the rows of a slice exactly; it is asked only where the chunks alone cannot tell.
  using Count = std::function<Result<uint64_t>(const Slice&)>;
  [[nodiscard]] Result<std::vector<Slice>> slices(uint64_t target_rows, const Count& count) const;

  [[nodiscard]] uint64_t rows() const { return rows_; }

 private:
  // Clocks of a chunk's rows before the clock of the trace is known: counter ticks and nanoseconds apart.
  struct RawChunk {
    uint64_t begin = 0, end = 0;
    uint64_t min_ticks = UINT64_MAX, max_ticks = 0;
    uint64_t min_ns = UINT64_MAX, max_ns = 0;
    uint64_t rows = 0;
  };
  Status refine(const Slice& slice, uint64_t target_rows, const Count& count, std::vector<Slice>& slices) const;
  void split_by_offset(const Slice& slice, uint64_t target_rows, std::vector<Slice>& slices) const;

  std::vector<RawChunk> raw_;
  std::vector<Chunk> chunks_;
  std::vector<int64_t> latest_before_;    // largest max_ns of chunks up to this one
  std::vector<int64_t> earliest_behind_;  // smallest min_ns of this and all later chunks
  uint64_t rows_ = 0;
  bool open_ = false;
};

}  // namespace mlrun::trace
