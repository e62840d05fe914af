// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/time_sweep.h"

#include <algorithm>

namespace mlrun::trace {

void TimeSweep::begin(int64_t from_ns, int64_t to_ns) {
  from_ns_ = from_ns;
  to_ns_ = std::max(from_ns, to_ns);
  edges_.clear();
}

void TimeSweep::add(Span span, int64_t from_ns, int64_t to_ns) {
  from_ns = std::max(from_ns, from_ns_);
  to_ns = std::min(to_ns, to_ns_);
  if (from_ns >= to_ns) return;
  edges_.push_back({from_ns, span, 1});
  edges_.push_back({to_ns, span, -1});
}

int64_t& TimeSweep::label(const Open& open, model::CallSplit& split) {
  const auto is = [&](Span span) { return open[static_cast<size_t>(span)] > 0; };
  if (is(Span::kReady)) return split.runq_ns;
  if (is(Span::kThrottled)) return split.wait_ns;
  if (!is(Span::kAsleep)) return is(Span::kOperation) ? split.vfs_ns : split.own_ns;
  if (is(Span::kDevice) || is(Span::kSharedDevice)) return split.device_ns;
  if (is(Span::kQueue) || is(Span::kSubmitting)) return split.queue_ns;
  return is(Span::kRemote) ? split.remote_ns : split.wait_ns;
}

model::CallSplit TimeSweep::finish() {
  model::CallSplit split;
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.ns < b.ns; });
  Open open{};
  int64_t at_ns = from_ns_;
  const auto pass = [&](int64_t until_ns) {
    int64_t& to = label(open, split);
    to += until_ns - at_ns;
    if (&to == &split.device_ns && open[static_cast<size_t>(Span::kDevice)] == 0) {
      split.device_shared_ns += until_ns - at_ns;
    }
    at_ns = until_ns;
  };
  for (const Edge& edge : edges_) {
    if (edge.ns > at_ns) pass(edge.ns);
    open[static_cast<size_t>(edge.span)] += edge.step;
  }
  pass(to_ns_);
  return split;
}

}  // namespace mlrun::trace
