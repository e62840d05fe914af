// SPDX-License-Identifier: Apache-2.0
// Finds where in the spool the rows of a time range are. The collector appends frames as time goes by, so consecutive
// frames (struct FrameRange: 512 KiB, or one frame) cover a short time, and the times of neighbouring frame ranges
// overlap only a little. Each row is in one frame range.
//
// Also divides the traced run into slices of time with about equal numbers of rows, to be read and sorted one by one.
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

struct FrameRange {
  uint64_t begin = 0, end = 0;  // its frames begin in [begin, end) of the spool
  int64_t min_ns = 0, max_ns = 0;
  uint64_t rows = 0;
};

class FrameRanges {
 public:
  // Requires: frames in the order of the spool. `clock_kind`: the clock of the frame's time stamps.
  void add(const FrameNote& frame, mlrun_clock_kind clock_kind);
  void end_chunk() { open_ = false; }

  // Converts the times of all ranges. Requires: all frames were added. Call once, before the functions below.
  void place(const TraceClock& clock);

  // Frame ranges that may hold rows of the slice, in the order of the spool.
  [[nodiscard]] std::vector<FrameRange> ranges_of(const Slice& slice) const;
  // Number of rows in the ranges of the slice, some of which may be outside of it.
  [[nodiscard]] uint64_t rows_at_most(const Slice& slice) const;

  // Divides the whole run into slices, in order of time, of about `target_rows` rows and at most twice as many. `count`
  // returns the exact number of rows in a slice; it is called only if the slice's ranges have more than that.
  using Count = std::function<Result<uint64_t>(const Slice&)>;
  [[nodiscard]] Result<std::vector<Slice>> slices(uint64_t target_rows, const Count& count) const;

  [[nodiscard]] uint64_t rows() const { return rows_; }

 private:
  // Clocks of a range's rows before the trace clock is known: counter ticks and nanoseconds separately.
  struct RawRange {
    uint64_t begin = 0, end = 0;
    uint64_t min_ticks = UINT64_MAX, max_ticks = 0;
    uint64_t min_ns = UINT64_MAX, max_ns = 0;
    uint64_t rows = 0;
  };
  Status refine(const Slice& slice, uint64_t target_rows, const Count& count, std::vector<Slice>& slices) const;
  void split_by_offset(const Slice& slice, uint64_t target_rows, std::vector<Slice>& slices) const;

  std::vector<RawRange> raw_;
  std::vector<FrameRange> ranges_;
  std::vector<int64_t> latest_before_;    // largest max_ns of the ranges up to this one
  std::vector<int64_t> earliest_behind_;  // smallest min_ns of this and all later ranges
  uint64_t rows_ = 0;
  bool open_ = false;
};

}  // namespace mlrun::trace
