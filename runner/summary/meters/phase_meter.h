// SPDX-License-Identifier: Apache-2.0
// Calls on files per phase of the training (MLLOG epochs and the like). The bounds of all phases divide time into
// intervals; sums are kept per interval and process and combined at the end, when the process tree is known.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/summary/meters/process_tree.h"
#include "runner/summary/summary.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

// [first_ns, end_ns)
struct TimeWindow {
  int64_t first_ns = 0, end_ns = 0;
};

class PhaseMeter {
 public:
  // `undecided`: windows, each around a bound whose exact time is only known when all rows were added.
  explicit PhaseMeter(std::vector<model::PhaseRow> phases, const std::vector<TimeWindow>& undecided = {});

  // Adds a call that ended at end_ns; fastest in the order of end_ns. `split`: how its time divides; nullptr: unknown.
  void add(int32_t proc_id, int64_t end_ns, int64_t dur_ns, int64_t bytes_read, int64_t bytes_written,
           const model::CallSplit* split = nullptr);

  // Adds an operation of the kernel outside of calls that ended at end_ns. It counts in splits() only.
  void add_operation(int32_t proc_id, int64_t end_ns, const model::CallSplit& split);

  // Adds a sum of calls on files to the interval that contains moment_ns.
  void add(int32_t proc_id, int64_t moment_ns, const Totals& totals);

  // Sets the final bounds of the phases: each may have moved within its undecided window. Requires: the phases are otherwise the same. Call it before
  // finish(). Beyond kKeptMax calls in windows, a call counts at the beginning of its window.
  void settle(std::vector<model::PhaseRow> phases);

  // The phases with their figures, by start, longer ones first.
  [[nodiscard]] std::vector<model::PhaseRow> finish(const ProcessTree& tree) const;
  // How the time of the phases' calls and operations divides, in the order of finish(); without phases whose split is unknown.
  [[nodiscard]] std::vector<SplitSummary> splits(const ProcessTree& tree) const;

  static constexpr size_t kKeptMax = size_t{1} << 18;

 private:
  struct Work {
    int64_t calls = 0, bytes_read = 0, bytes_written = 0, io_ns = 0;
    int64_t split_calls = 0, split_ns = 0;
    model::CallSplit split;
    void add(int64_t dur_ns, const model::CallSplit& of_one);
    void add(const Work& other);
  };
  // Data within an undecided window.
  struct Kept {
    int32_t proc_id = 0;
    int64_t end_ns = 0;
    Work work;
  };
  void set_phases(std::vector<model::PhaseRow> phases);
  // visit(index of the phase, work) for all work within a phase.
  template <typename Visit>
  void for_each_work(const ProcessTree& tree, Visit visit) const;

  Work* work_at(int32_t proc_id, int64_t end_ns);  // null: outside of all phases

  std::vector<model::PhaseRow> phases_;
  std::vector<int64_t> bounds_;  // sorted; interval i is [bounds_[i - 1], bounds_[i])
  std::vector<TimeWindow> undecided_;
  std::vector<char> waits_;  // by interval: whether it is in an undecided window
  std::vector<Kept> kept_;
  size_t interval_ = 0;       // interval of the previous call
  util::FlatMap<Work> work_;  // by interval << 32 | proc_id; interval 0, before all phases, is left out
};

}  // namespace mlrun::summary
