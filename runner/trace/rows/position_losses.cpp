// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/position_losses.h"

namespace mlrun::trace {

std::vector<PositionLoss> position_losses(SpoolIndex& index) {
  TraceClock::Hint hint;
  std::vector<PositionLoss> moments;
  for (const LossSpan& span : index.channels().losses()) {
    const Channel& channel = index.channels().all()[span.channel];
    // at both ends of the span, since a seek inside of it may be before or after the loss
    moments.push_back({index.clock().convert(span.first, channel.clock_kind, hint), channel.origin.proc_id});
    moments.push_back({index.clock().convert(span.last, channel.clock_kind, hint), channel.origin.proc_id});
  }
  for (const auto& [serial, gap] : index.gaps()) {
    if (gap.reason == MLRUN_GAP_CUT_OFF) continue;
    const Channel* channel = serial == 0 ? nullptr : index.channels().find(serial);
    const int32_t proc_id = channel ? channel->origin.proc_id : 0;
    moments.push_back({TraceClock::from_monotonic(gap.first_monotonic_ns), proc_id});
    moments.push_back({TraceClock::from_monotonic(gap.last_monotonic_ns), proc_id});
  }
  return moments;
}

}  // namespace mlrun::trace
