// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/phase_meter.h"

#include <algorithm>
#include <utility>

#include "runner/util/saturating.h"

namespace mlrun::summary {

PhaseMeter::PhaseMeter(std::vector<model::PhaseRow> phases, const std::vector<TimeWindow>& undecided)
    : undecided_(undecided) {
  for (const TimeWindow& window : undecided_) {
    bounds_.push_back(window.first_ns);
    bounds_.push_back(window.end_ns);
  }
  set_phases(std::move(phases));
  waits_.resize(bounds_.size() + 1);
  for (const TimeWindow& window : undecided_) {
    const auto first = std::lower_bound(bounds_.begin(), bounds_.end(), window.first_ns);
    for (auto i = size_t(first - bounds_.begin()) + 1; i < bounds_.size() && bounds_[i] <= window.end_ns; ++i) {
      waits_[i] = 1;
    }
  }
}

// Keeps the bounds that exist already, since the data added so far is divided by them.
void PhaseMeter::set_phases(std::vector<model::PhaseRow> phases) {
  phases_ = std::move(phases);
  for (model::PhaseRow& phase : phases_) {
    phase.calls = phase.bytes_read = phase.bytes_written = phase.io_ns = 0;
    bounds_.push_back(phase.ts_ns);
    bounds_.push_back(phase.end_ns());
  }
  std::sort(bounds_.begin(), bounds_.end());
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  std::sort(phases_.begin(), phases_.end(), [](const model::PhaseRow& a, const model::PhaseRow& b) {
    return std::pair(a.ts_ns, b.end_ns()) < std::pair(b.ts_ns, a.end_ns());
  });
}

void PhaseMeter::settle(std::vector<model::PhaseRow> phases) {
  const std::vector<int64_t> bounds = bounds_;
  const util::FlatMap<Work> before = std::exchange(work_, {});
  const std::vector<Kept> kept = std::exchange(kept_, {});
  set_phases(std::move(phases));
  waits_.assign(bounds_.size() + 1, 0);
  interval_ = 0;
  const auto add = [&](int32_t proc_id, int64_t moment_ns, const Work& work) {
    if (Work* to = work_at(proc_id, moment_ns)) to->add(work);
  };
  before.for_each([&](uint64_t key, const Work& work) { add(int32_t(uint32_t(key)), bounds[(key >> 32) - 1], work); });
  for (const Kept& one : kept) add(one.proc_id, one.end_ns, one.work);
}

PhaseMeter::Work* PhaseMeter::work_at(int32_t proc_id, int64_t end_ns) {
  if (bounds_.empty()) return nullptr;
  const bool inside = (interval_ == 0 || end_ns >= bounds_[interval_ - 1]) &&
                      (interval_ == bounds_.size() || end_ns < bounds_[interval_]);
  if (!inside) interval_ = size_t(std::upper_bound(bounds_.begin(), bounds_.end(), end_ns) - bounds_.begin());
  if (interval_ == 0 || interval_ == bounds_.size()) return nullptr;
  if (waits_[interval_] != 0 && kept_.size() < kKeptMax) {
    return &kept_.emplace_back(Kept{proc_id, end_ns, {}}).work;
  }
  return &work_.at(uint64_t(interval_) << 32 | uint32_t(proc_id));
}

void PhaseMeter::add(int32_t proc_id, int64_t end_ns, int64_t dur_ns, int64_t bytes_read, int64_t bytes_written,
                     const model::CallSplit* split) {
  Work* work = work_at(proc_id, end_ns);
  if (!work) return;
  ++work->calls;
  util::add_to(work->bytes_read, bytes_read);
  util::add_to(work->bytes_written, bytes_written);
  util::add_to(work->io_ns, dur_ns);
  if (split != nullptr) work->add(dur_ns, *split);
}

void PhaseMeter::Work::add(int64_t dur_ns, const model::CallSplit& of_one) {
  ++split_calls;
  util::add_to(split_ns, dur_ns);
  split.add(of_one);
}

void PhaseMeter::Work::add(const Work& other) {
  util::add_to(calls, other.calls);
  util::add_to(bytes_read, other.bytes_read);
  util::add_to(bytes_written, other.bytes_written);
  util::add_to(io_ns, other.io_ns);
  util::add_to(split_calls, other.split_calls);
  util::add_to(split_ns, other.split_ns);
  split.add(other.split);
}

void PhaseMeter::add_operation(int32_t proc_id, int64_t end_ns, const model::CallSplit& split) {
  if (Work* work = work_at(proc_id, end_ns)) work->add(split.sum(), split);
}

void PhaseMeter::add(int32_t proc_id, int64_t moment_ns, const Totals& totals) {
  Work* work = work_at(proc_id, moment_ns);
  if (!work) return;
  util::add_to(work->calls, totals.calls);
  util::add_to(work->bytes_read, totals.bytes_read);
  util::add_to(work->bytes_written, totals.bytes_written);
  util::add_to(work->io_ns, totals.time_ns);
}

template <typename Visit>
void PhaseMeter::for_each_work(const ProcessTree& tree, Visit visit) const {
  work_.for_each([&](uint64_t key, const Work& work) {
    const int64_t begin = bounds_[(key >> 32) - 1];
    const auto proc_id = int32_t(uint32_t(key));
    for (size_t i = 0; i < phases_.size() && phases_[i].ts_ns <= begin; ++i) {
      const model::PhaseRow& phase = phases_[i];
      if (phase.end_ns() <= begin || (phase.proc_id != 0 && !tree.within(proc_id, phase.proc_id))) continue;
      visit(i, work);
    }
  });
}

std::vector<model::PhaseRow> PhaseMeter::finish(const ProcessTree& tree) const {
  std::vector<model::PhaseRow> phases = phases_;
  for_each_work(tree, [&](size_t index, const Work& work) {
    model::PhaseRow& phase = phases[index];
    util::add_to(phase.calls, work.calls);
    util::add_to(phase.bytes_read, work.bytes_read);
    util::add_to(phase.bytes_written, work.bytes_written);
    util::add_to(phase.io_ns, work.io_ns);
  });
  return phases;
}

std::vector<SplitSummary> PhaseMeter::splits(const ProcessTree& tree) const {
  std::vector<SplitSummary> rows;
  for (const model::PhaseRow& phase : phases_) rows.push_back({"phase", phase.phase_id, phase.name, 0, 0, {}});
  for_each_work(tree, [&](size_t index, const Work& work) {
    util::add_to(rows[index].calls, work.split_calls);
    util::add_to(rows[index].time_ns, work.split_ns);
    rows[index].split.add(work.split);
  });
  std::erase_if(rows, [](const SplitSummary& row) { return row.calls == 0; });
  return rows;
}

}  // namespace mlrun::summary
