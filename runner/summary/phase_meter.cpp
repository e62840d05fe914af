// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/phase_meter.h"

#include <algorithm>
#include <utility>

namespace mlrun::summary {

PhaseMeter::PhaseMeter(std::vector<model::PhaseRow> phases) : phases_(std::move(phases)) {
  for (model::PhaseRow& phase : phases_) {
    phase.calls = phase.bytes_read = phase.bytes_written = phase.io_ns = 0;
    bounds_.push_back(phase.start_ns);
    bounds_.push_back(phase.end_ns);
  }
  std::sort(bounds_.begin(), bounds_.end());
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  std::sort(phases_.begin(), phases_.end(), [](const model::PhaseRow& a, const model::PhaseRow& b) {
    return std::pair(a.start_ns, b.end_ns) < std::pair(b.start_ns, a.end_ns);
  });
}

void PhaseMeter::add(int32_t proc_id, int64_t end_ns, int64_t dur_ns, int64_t bytes_read, int64_t bytes_written) {
  if (bounds_.empty()) return;
  const bool inside = (interval_ == 0 || end_ns >= bounds_[interval_ - 1]) &&
                      (interval_ == bounds_.size() || end_ns < bounds_[interval_]);
  if (!inside) interval_ = size_t(std::upper_bound(bounds_.begin(), bounds_.end(), end_ns) - bounds_.begin());
  if (interval_ == 0 || interval_ == bounds_.size()) return;
  Work& work = work_.at(uint64_t(interval_) << 32 | uint32_t(proc_id));
  ++work.calls;
  work.bytes_read += bytes_read;
  work.bytes_written += bytes_written;
  work.io_ns += dur_ns;
}

std::vector<model::PhaseRow> PhaseMeter::finish(const ProcessTree& tree) const {
  std::vector<model::PhaseRow> phases = phases_;
  work_.for_each([&](uint64_t key, const Work& work) {
    const int64_t begin = bounds_[(key >> 32) - 1];
    const auto proc_id = int32_t(uint32_t(key));
    for (model::PhaseRow& phase : phases) {
      if (phase.start_ns > begin) break;
      if (phase.end_ns <= begin || (phase.proc_id != 0 && !tree.within(proc_id, phase.proc_id))) continue;
      phase.calls += work.calls;
      phase.bytes_read += work.bytes_read;
      phase.bytes_written += work.bytes_written;
      phase.io_ns += work.io_ns;
    }
  });
  return phases;
}

}  // namespace mlrun::summary
