// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/sums_clock.h"

#include "runner/collect/clock_anchor.h"
#include "runner/util/time_units.h"

namespace mlrun::sums {

namespace {
constexpr uint64_t kApartNs = 50'000'000;  // distance of two anchors that give a better rate than the first estimate
}  // namespace

SumsClock::SumsClock(mlrun_clock_kind kind) : kind_(kind), last_(collect::read_clocks()) {
  const uint64_t ticks = collect::ticks_in(util::kNsPerS, kind);
  if (ticks != 0) ns_per_tick_ = static_cast<double>(util::kNsPerS) / static_cast<double>(ticks);
}

void SumsClock::add(const mlrun_frame_anchor& anchor) {
  last_ = anchor;
  if (!anchors_.empty() && anchor.monotonic_ns > anchors_.front().monotonic_ns + kApartNs) {
    const mlrun_frame_anchor& first = anchors_.front();
    ns_per_tick_ =
        static_cast<double>(anchor.monotonic_ns - first.monotonic_ns) / static_cast<double>(anchor.tsc - first.tsc);
  }
  // The last entry is always the newest anchor. The next anchor replaces it, unless that one is a step_-th anchor. The first entry stays.
  if (seen_++ % step_ != 0 && anchors_.size() > 1) anchors_.pop_back();
  anchors_.push_back(anchor);
  if (anchors_.size() < kAnchorsMax) return;
  for (size_t i = 1; i * 2 < anchors_.size(); i++) anchors_[i] = anchors_[i * 2];
  anchors_.resize(anchors_.size() / 2);
  anchors_.push_back(anchor);
  step_ *= 2;
}

uint64_t SumsClock::monotonic_ns(uint64_t clock) const {
  if (kind_ != MLRUN_CLOCK_TSC) return clock;
  return clock >= last_.tsc ? last_.monotonic_ns + length_ns(clock - last_.tsc)
                            : last_.monotonic_ns - length_ns(last_.tsc - clock);
}

uint64_t SumsClock::from_realtime(int64_t realtime_ns) const {
  return last_.monotonic_ns + static_cast<uint64_t>(realtime_ns - static_cast<int64_t>(last_.realtime_ns));
}

}  // namespace mlrun::sums
