// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_end.h"

#include <algorithm>
#include <utility>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

KernelEnd::KernelEnd(const model::Run& session) : session_(session) {
  const std::string& state = session.kernel_side.state;
  if (state == "unfinished") reason_ = "mlrun died, and the kernel side ended with it";
  if (state == "broken") reason_ = "the kernel side (mlrun-probes) ended before the run did";
  began_ = state == "recorded" || reason_ != nullptr;
  gap_.head.time_ns = static_cast<uint64_t>(kLatestNs);
  gap_.of_kind = MLRUN_KERNEL_WAIT;
  gap_.reason = MLRUN_KERNEL_LOSS_RING;
}

// The gap begins after the last wait, because waits stop being recorded first: requests are recorded until the last BPF
// program is unloaded.
void KernelEnd::note(const mlrun_kernel_head& head) {
  if (head.kind == MLRUN_KERNEL_WAIT) gap_.first_ns = std::max<uint64_t>(gap_.first_ns, head.time_ns);
}

void KernelEnd::add_row(model::TraceInfo& info) const {
  if (reason_ == nullptr) return;
  model::LossRow row;
  row.channel = "kernel side";
  row.reason = reason_;
  row.first_ns = TraceClock::from_monotonic(gap_.first_ns);
  row.last_ns = std::max(row.first_ns, session_.end_ns.value_or(0));
  for (const model::LossRow& other : info.losses) row.last_ns = std::max(row.last_ns, other.last_ns);
  row.count = 1;
  row.unit = "stretches";
  info.losses.push_back(std::move(row));
}

}  // namespace mlrun::trace
