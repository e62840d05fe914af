// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tables/phase_times.h"

#include <algorithm>
#include <cmath>

#include "runner/parquet/table_batches.h"
#include "runner/summary/answer.h"

namespace mlrun::summary {

namespace {

constexpr const char* kTable = "blame";

// The bounds of all phases divide time into intervals. The interval after the last bound is in no phase.
class Intervals {
 public:
  explicit Intervals(const std::vector<model::PhaseRow>& phases) {
    for (const model::PhaseRow& phase : phases) {
      bounds_.push_back(phase.ts_ns);
      bounds_.push_back(phase.end_ns());
    }
    std::sort(bounds_.begin(), bounds_.end());
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    ns_.resize(bounds_.size());
  }

  // Spreads a piece's time evenly over its duration.
  void add(int64_t begin, int64_t end, double ns) {
    if (end <= begin) return;
    const double each = ns / double(end - begin);
    auto at = std::upper_bound(bounds_.begin(), bounds_.end(), begin) - bounds_.begin();
    for (; begin < end && at < std::ssize(bounds_); ++at) {
      const int64_t stop = std::min(end, bounds_[size_t(at)]);
      if (at > 0) ns_[size_t(at - 1)] += each * double(stop - begin);
      begin = stop;
    }
  }
  [[nodiscard]] int64_t sum(const model::PhaseRow& phase) const {
    double sum = 0;
    const auto first = std::lower_bound(bounds_.begin(), bounds_.end(), phase.ts_ns) - bounds_.begin();
    for (auto at = size_t(first); at < bounds_.size() && bounds_[at] < phase.end_ns(); ++at) sum += ns_[at];
    return std::llround(sum);
  }

 private:
  std::vector<int64_t> bounds_;
  std::vector<double> ns_;  // by interval, from one bound to the next
};

void add_batch(const arrow::RecordBatch& batch, Intervals& wait, Intervals& compute) {
  const tables::Numbers ts(batch, "ts"), dur(batch, "dur"), ns(batch, "ns");
  const tables::Texts activity(batch, "activity");
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    const auto is = [&](Activity one) { return activity[row] == kActivityNames[size_t(one)]; };
    const auto add_to = [&](Intervals& intervals) { intervals.add(ts[row], ts[row] + dur[row], double(ns[row])); };
    if (is(Activity::kCompute)) add_to(compute);
    if (is(Activity::kWait) || is(Activity::kReceive) || is(Activity::kLoader)) add_to(wait);
  }
}

}  // namespace

Status add_phase_times(const std::string& trace_folder, std::vector<model::PhaseRow>& phases) {
  if (phases.empty() || !tables::has_table(trace_folder + "/tables", kTable)) return {};
  Intervals wait(phases), compute(phases);
  Status read = tables::for_each_batch(trace_folder, kTable, {.columns = {"ts", "dur", "ns", "activity"}},
                                       [&](const arrow::RecordBatch& batch) { add_batch(batch, wait, compute); });
  if (!read) return read;
  for (model::PhaseRow& phase : phases) {
    phase.wait_ns = wait.sum(phase);
    phase.compute_ns = compute.sum(phase);
  }
  return {};
}

}  // namespace mlrun::summary
