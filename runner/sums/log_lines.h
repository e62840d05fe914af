// SPDX-License-Identifier: Apache-2.0
// Finds the calls that wrote log lines, so that stretches begin at the write of a line instead of its logged
// millisecond (drawing in runner/trace/marks/mllog.h). A line is in its file before the record of its write is drained;
// so the milliseconds with bounds are known by then, and the thread's records are searched for the write before they
// are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/events/sums.h"
#include "runner/sums/log_tail.h"
#include "runner/sums/stretches.h"
#include "runner/sums/sums_clock.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

class LogLines {
 public:
  explicit LogLines(const std::vector<std::string>& paths) : tail_(paths), has_logs_(!paths.empty()) {}

  LogTail& tail() { return tail_; }

  // A phase's bound is in this millisecond. Begins a stretch at both its ends.
  void expect(uint64_t bound_ns, Stretches& stretches);

  // Searches the records of one thread before they are added up. Begins a stretch at each write of a line.
  void find(events::RecordReader records, const SumsClock& clock, Stretches& stretches);

  // Each record that describes an open file; each call.
  void take(const events::FileEvent& file);
  void take(const events::CallEvent& call, uint64_t start_ns, int64_t written);

  [[nodiscard]] bool has_logs() const { return has_logs_; }
  [[nodiscard]] const std::vector<mlrun_log_write>& writes() const { return writes_; }

 private:
  static constexpr size_t kWritesMax = size_t{1} << 15, kOpenMax = size_t{1} << 16;

  LogTail tail_;
  bool has_logs_;
  summary::FlatMap<int32_t> open_;       // index of the log, by number of the open file
  std::vector<uint64_t> expected_;       // milliseconds whose write is still to be found
  std::vector<mlrun_log_write> writes_;  // drops the older half when full: positions count from the end
};

}  // namespace mlrun::sums
