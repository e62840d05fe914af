// SPDX-License-Identifier: Apache-2.0
// Finds the calls that wrote MLLOG lines, so that stretches begin at the write of a line instead of its logged
// millisecond (drawing in runner/trace/marks/mllog.h). A line is in its file before the record of its write is drained.
// So the collector knows the milliseconds with bounds when the record arrives, and searches each thread's records for the
// write before it adds them up.
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

  // The millisecond that begins at `bound_ns` has a bound of a phase. Begins a stretch at both ends of the millisecond.
  void expect(uint64_t bound_ns, Stretches& stretches);

  // Searches the records of one thread before they are added up. Begins a stretch at each call on a log that
  // may be the write of an expected line, by its start.
  void find(decode::RecordReader records, const SumsClock& clock, Stretches& stretches);

  // Call for each record that describes an open file, and for each call that writes.
  void take(const decode::FileEvent& file);
  void take(const decode::CallEvent& call, uint64_t start_ns, int64_t written);

  [[nodiscard]] bool has_logs() const { return has_logs_; }
  [[nodiscard]] const std::vector<mlrun_log_write>& writes() const { return writes_; }

 private:
  static constexpr size_t kWritesMax = size_t{1} << 15, kOpenMax = size_t{1} << 16;

  LogTail tail_;
  bool has_logs_;
  util::FlatMap<int32_t> open_;          // index of the log, by number of the open file
  std::vector<uint64_t> expected_;       // start of the milliseconds with bounds; dropped after a second
  std::vector<mlrun_log_write> writes_;  // drops the older half when full: readers count from the end
};

}  // namespace mlrun::sums
