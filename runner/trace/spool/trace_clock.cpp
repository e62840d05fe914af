// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/trace_clock.h"

#include <algorithm>
#include <cstdlib>

#include "runner/util/median.h"

namespace mlrun::trace {

namespace {

__extension__ using Wide = unsigned __int128;

// Plausible rates of a time stamp counter: 10 MHz to 20 GHz.
constexpr double kSlowestNsPerTick = 100, kFastestNsPerTick = 0.05;
constexpr size_t kStretches = 64;
// An anchor was interrupted while it was read, and is not used, if its width exceeds the median width by this factor
// and this many ticks.
constexpr uint64_t kWidthFactor = 8, kWidthSlack = 1000;

bool plausible(const mlrun_frame_anchor& from, const mlrun_frame_anchor& to) {
  if (to.tsc <= from.tsc || to.monotonic_ns < from.monotonic_ns) return false;
  const double rate = static_cast<double>(to.monotonic_ns - from.monotonic_ns) / static_cast<double>(to.tsc - from.tsc);
  return rate >= kFastestNsPerTick && rate <= kSlowestNsPerTick;
}

uint64_t rate_32(const mlrun_frame_anchor& from, const mlrun_frame_anchor& to) {
  return static_cast<uint64_t>((Wide{to.monotonic_ns - from.monotonic_ns} << 32) / (to.tsc - from.tsc));
}

uint64_t median_width(const std::vector<mlrun_frame_anchor>& anchors) {
  std::vector<uint64_t> widths;
  widths.reserve(anchors.size());
  for (const auto& anchor : anchors) widths.push_back(anchor.width_ticks);
  return util::upper_median(std::move(widths));
}

int64_t realtime_offset(const mlrun_frame_anchor& anchor) {
  return static_cast<int64_t>(anchor.realtime_ns - anchor.monotonic_ns);
}

}  // namespace

int64_t TraceClock::Line::at(uint64_t ticks) const {
  constexpr Wide kHalf = Wide{1} << 31;
  if (ticks >= base_ticks) {
    const Wide ns = ((Wide{ticks - base_ticks} * ns_per_tick_32 + kHalf) >> 32) + static_cast<Wide>(base_ns);
    return static_cast<int64_t>(std::min(ns, static_cast<Wide>(kLatestNs)));
  }
  const Wide before = (Wide{base_ticks - ticks} * ns_per_tick_32 + kHalf) >> 32;
  return before >= static_cast<Wide>(base_ns) ? 0 : base_ns - static_cast<int64_t>(before);
}

Result<TraceClock> TraceClock::make(std::vector<mlrun_frame_anchor> anchors, bool needs_ticks) {
  TraceClock clock;
  clock.anchors_ = std::move(anchors);
  std::sort(clock.anchors_.begin(), clock.anchors_.end(), [](const auto& a, const auto& b) {
    return a.tsc != b.tsc ? a.tsc < b.tsc : a.monotonic_ns < b.monotonic_ns;
  });
  const size_t all = clock.anchors_.size();
  clock.drop_bad_anchors();
  clock.error_.anchors = clock.anchors_.size();
  clock.error_.left_out = all - clock.anchors_.size();
  if (clock.anchors_.size() >= 2) {
    clock.draw_lines();
    clock.measure_error();
  } else if (needs_ticks) {
    return fail(
        "the spool has fewer than two usable clock anchors, so its time stamps cannot be converted: the recording "
        "ended in its first moments, or the file is damaged; record again");
  }
  return clock;
}

int64_t TraceClock::length_ns(uint64_t ticks) const {
  if (anchors_.size() < 2) return 0;
  const Wide ns = (Wide{ticks} * rate_32(anchors_.front(), anchors_.back())) >> 32;
  return static_cast<int64_t>(std::min(ns, static_cast<Wide>(kLatestNs)));
}

void TraceClock::drop_bad_anchors() {
  std::erase_if(anchors_, [](const auto& anchor) {
    return anchor.monotonic_ns > static_cast<uint64_t>(kLatestNs) ||
           anchor.realtime_ns > static_cast<uint64_t>(INT64_MAX);
  });
  if (anchors_.empty()) return;
  const uint64_t usual = std::min(median_width(anchors_), UINT64_MAX / kWidthFactor - kWidthSlack);
  std::erase_if(anchors_, [&](const auto& anchor) { return anchor.width_ticks > usual * kWidthFactor + kWidthSlack; });
  std::vector<mlrun_frame_anchor> good;
  for (const auto& anchor : anchors_) {
    if (good.empty() || plausible(good.back(), anchor)) good.push_back(anchor);
  }
  anchors_ = std::move(good);
}

void TraceClock::draw_lines() {
  lines_.clear();
  for (size_t i = 0; i + 1 < anchors_.size(); ++i) {
    const auto& from = anchors_[i];
    const auto& to = anchors_[i + 1];
    lines_.push_back({from.tsc, to.tsc - 1, from.tsc, static_cast<int64_t>(from.monotonic_ns), rate_32(from, to)});
  }
  lines_.front().first_ticks = 0;
  lines_.back().last_ticks = UINT64_MAX;
}

size_t TraceClock::line_at(uint64_t ticks) const {
  const auto after = std::upper_bound(lines_.begin() + 1, lines_.end(), ticks,
                                      [](uint64_t value, const Line& line) { return value < line.first_ticks; });
  return static_cast<size_t>(after - lines_.begin()) - 1;
}

void TraceClock::measure_error() {
  std::vector<int64_t> errors;
  const size_t inner = anchors_.size() - 2;
  const size_t per_stretch = std::max<size_t>(1, (inner + kStretches - 1) / kStretches);
  for (size_t i = 1; i + 1 < anchors_.size(); ++i) {
    const auto& from = anchors_[i - 1];
    const auto& held_out = anchors_[i];
    const Line line{0, UINT64_MAX, from.tsc, static_cast<int64_t>(from.monotonic_ns), rate_32(from, anchors_[i + 1])};
    const int64_t error = std::abs(line.at(held_out.tsc) - static_cast<int64_t>(held_out.monotonic_ns));
    if ((i - 1) % per_stretch == 0) error_.stretches.push_back({static_cast<int64_t>(from.monotonic_ns), 0});
    error_.stretches.back().error_ns = std::max(error_.stretches.back().error_ns, error);
    errors.push_back(error);
  }
  if (errors.empty()) return;
  error_.max_ns = *std::max_element(errors.begin(), errors.end());
  error_.median_ns = util::upper_median(std::move(errors));
}

int64_t TraceClock::realtime_offset_ns(int64_t ts_ns) const {
  if (anchors_.empty()) return 0;
  const auto after = std::lower_bound(anchors_.begin(), anchors_.end(), ts_ns, [](const auto& anchor, int64_t ns) {
    return static_cast<int64_t>(anchor.monotonic_ns) < ns;
  });
  return realtime_offset(after == anchors_.end() ? anchors_.back() : *after);
}

// Uses the offset between both clocks at the nearest anchor, since the wall clock may be set or slewed during the run.
// The error includes the change of the offset between the two anchors around the time.
WallTime TraceClock::from_realtime(int64_t realtime_ns) const {
  if (anchors_.empty()) return {};
  const auto wall = [](const auto& anchor) { return static_cast<int64_t>(anchor.realtime_ns); };
  const auto after = std::partition_point(anchors_.begin(), anchors_.end(),
                                          [&](const auto& anchor) { return wall(anchor) < realtime_ns; });
  const auto& late = after == anchors_.end() ? anchors_.back() : *after;
  const auto& early = after == anchors_.begin() ? anchors_.front() : *(after - 1);
  const int64_t offset = realtime_offset(realtime_ns - wall(early) <= wall(late) - realtime_ns ? early : late);
  const int64_t ts_ns = std::clamp<int64_t>(realtime_ns - offset, 0, kLatestNs);
  return {ts_ns, std::abs(realtime_offset(late) - realtime_offset(early)) + error_.max_ns};
}

}  // namespace mlrun::trace
