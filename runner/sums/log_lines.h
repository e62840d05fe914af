// SPDX-License-Identifier: Apache-2.0
// Which calls wrote the logs, so that stretches begin where a line was written and not with the millisecond that it
// tells (runner/trace/marks/mllog.h has the drawing). A line is in its file before the record of the call that wrote it is
// taken; so the milliseconds in which a bound lies are known by then, and the record is looked for ahead of the others
// of its thread.
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

  // A bound of a phase lies in this millisecond. It begins a stretch there and behind it.
  void expect(uint64_t bound_ns, Stretches& stretches);

  // Looks through the records of one thread, before they are added up. Begins a stretch where lines were written.
  void find(events::RecordReader records, const SumsClock& clock, Stretches& stretches);

  // Each record that tells of an open file; each call.
  void take(const events::FileEvent& file);
  void take(const events::CallEvent& call, uint64_t start_ns, int64_t written);

  [[nodiscard]] bool has_logs() const { return has_logs_; }
  [[nodiscard]] const std::vector<mlrun_log_write>& writes() const { return writes_; }

 private:
  static constexpr size_t kWritesMax = size_t{1} << 15, kOpenMax = size_t{1} << 16;

  LogTail tail_;
  bool has_logs_;
  summary::FlatMap<int32_t> open_;       // which log, by the number of the open file
  std::vector<uint64_t> expected_;       // milliseconds whose write was not found yet
  std::vector<mlrun_log_write> writes_;  // without the first half when they are more: places are counted from the end
};

}  // namespace mlrun::sums
