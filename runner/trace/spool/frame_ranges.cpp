// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/frame_ranges.h"

#include <algorithm>

namespace mlrun::trace {

namespace {
constexpr uint64_t kRangeBytes = uint64_t{512} << 10;
constexpr uint64_t kLimitFactor = 2;  // limit of a slice's rows, in multiples of the target
}  // namespace

void FrameRanges::add(const FrameNote& frame, mlrun_clock_kind clock_kind) {
  if (frame.rows == 0) return;
  if (!open_ || frame.offset - raw_.back().begin >= kRangeBytes) {
    raw_.emplace_back();
    raw_.back().begin = frame.offset;
    open_ = true;
  }
  RawRange& range = raw_.back();
  range.end = frame.offset + MLRUN_FRAME_ALIGN;
  range.rows += frame.rows;
  rows_ += frame.rows;
  const bool ticks = frame.type == MLRUN_FRAME_DATA && clock_kind == MLRUN_CLOCK_TSC;
  uint64_t& min = ticks ? range.min_ticks : range.min_ns;
  uint64_t& max = ticks ? range.max_ticks : range.max_ns;
  min = std::min(min, frame.min_end);
  max = std::max(max, frame.max_end);
  range.min_ns = std::min(range.min_ns, frame.min_gpu_end_ns);
  range.max_ns = std::max(range.max_ns, frame.max_gpu_end_ns);
}

void FrameRanges::place(const TraceClock& clock) {
  TraceClock::Hint hint;
  for (const RawRange& raw : raw_) {
    FrameRange range{raw.begin, raw.end, kLatestNs, 0, raw.rows};
    if (raw.min_ticks <= raw.max_ticks) {
      range.min_ns = std::min(range.min_ns, clock.from_ticks(raw.min_ticks, hint));
      range.max_ns = std::max(range.max_ns, clock.from_ticks(raw.max_ticks, hint));
    }
    if (raw.min_ns <= raw.max_ns) {
      range.min_ns = std::min(range.min_ns, TraceClock::from_monotonic(raw.min_ns));
      range.max_ns = std::max(range.max_ns, TraceClock::from_monotonic(raw.max_ns));
    }
    ranges_.push_back(range);
  }
  raw_ = {};
  latest_before_.resize(ranges_.size());
  earliest_behind_.resize(ranges_.size());
  int64_t latest = 0, earliest = kLatestNs;
  for (size_t i = 0; i < ranges_.size(); ++i) latest_before_[i] = latest = std::max(latest, ranges_[i].max_ns);
  for (size_t i = ranges_.size(); i-- > 0;) earliest_behind_[i] = earliest = std::min(earliest, ranges_[i].min_ns);
}

std::vector<FrameRange> FrameRanges::ranges_of(const Slice& slice) const {
  const auto first = std::lower_bound(latest_before_.begin(), latest_before_.end(), slice.first_ns);
  const auto end = std::lower_bound(earliest_behind_.begin(), earliest_behind_.end(), slice.end_ns);
  std::vector<FrameRange> found;
  for (auto i = static_cast<size_t>(first - latest_before_.begin());
       i < static_cast<size_t>(end - earliest_behind_.begin()); ++i) {
    const FrameRange& range = ranges_[i];
    if (range.max_ns < slice.first_ns || range.min_ns >= slice.end_ns) continue;
    if (range.end <= slice.first_offset || range.begin >= slice.end_offset) continue;
    found.push_back(range);
  }
  return found;
}

uint64_t FrameRanges::rows_at_most(const Slice& slice) const {
  uint64_t rows = 0;
  for (const FrameRange& range : ranges_of(slice)) rows += range.rows;
  return rows;
}

Result<std::vector<Slice>> FrameRanges::slices(uint64_t target_rows, const Count& count) const {
  std::vector<std::pair<int64_t, uint64_t>> ends;  // end of a range's last row, and its row count
  for (const FrameRange& range : ranges_) ends.emplace_back(range.max_ns, range.rows);
  std::sort(ends.begin(), ends.end());
  std::vector<Slice> slices;
  int64_t begin_ns = 0;
  uint64_t rows = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    rows += ends[i].second;
    const bool last = i + 1 == ends.size();
    if (!last && (rows < target_rows || ends[i + 1].first == ends[i].first)) continue;
    const int64_t end_ns = last ? kLatestNs + 1 : ends[i].first + 1;
    if (auto refined = refine({begin_ns, end_ns}, target_rows, count, slices); !refined) {
      return tl::make_unexpected(refined.error());
    }
    begin_ns = end_ns;
    rows = 0;
  }
  return slices;
}

Status FrameRanges::refine(const Slice& slice, uint64_t target_rows, const Count& count,
                           std::vector<Slice>& slices) const {
  const uint64_t limit = target_rows * kLimitFactor;
  const uint64_t at_most = rows_at_most(slice);
  if (at_most == 0) return {};
  if (at_most > limit) {
    const auto rows = count(slice);
    if (!rows) return tl::make_unexpected(rows.error());
    if (*rows > limit && slice.end_ns - slice.first_ns == 1) {
      split_by_offset(slice, target_rows, slices);
      return {};
    }
    if (*rows > limit) {
      const int64_t middle = slice.first_ns + (slice.end_ns - slice.first_ns) / 2;
      if (auto left = refine({slice.first_ns, middle}, target_rows, count, slices); !left) return left;
      return refine({middle, slice.end_ns}, target_rows, count, slices);
    }
  }
  slices.push_back(slice);
  return {};
}

// All rows end in the same nanosecond, so any order is right: cuts the slice between ranges.
void FrameRanges::split_by_offset(const Slice& slice, uint64_t target_rows, std::vector<Slice>& slices) const {
  Slice cut = slice;
  uint64_t rows = 0;
  for (const FrameRange& range : ranges_of(slice)) {
    rows += range.rows;
    if (rows < target_rows) continue;
    cut.end_offset = range.end;
    slices.push_back(cut);
    cut.first_offset = range.end;
    rows = 0;
  }
  cut.end_offset = slice.end_offset;
  slices.push_back(cut);
}

}  // namespace mlrun::trace
