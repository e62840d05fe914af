// SPDX-License-Identifier: Apache-2.0
// MLPerf log lines (":::MLLOG" and one JSON object) as marks and phases. Their wall clock time in milliseconds is put
// on the clock of the trace by what the collector saw of both clocks around that moment.
//
//   POINT_IN_TIME            a mark
//   INTERVAL_START and _END  a mark with a duration and a phase, named by the key and its epoch: "epoch_start" …
//   "epoch_stop" with
//                            epoch_num 3 is "epoch 3"
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/trace_clock.h"

namespace mlrun::trace {

struct Mllog {
  std::vector<model::MarkRow> marks;    // in order of time
  std::vector<model::PhaseRow> phases;  // likewise; an interval without end goes on to the end of the run
  uint64_t unreadable_lines = 0;
  uint64_t unmatched_ends = 0;
  uint64_t unreadable_files = 0;
};

class MllogReader {
 public:
  explicit MllogReader(const TraceClock& clock) : clock_(clock) {}

  // Lines that do not hold ":::MLLOG" are passed over.
  void read(std::istream& lines);
  void read_file(const std::string& path);

  // Requires: everything was read. `end_ns`: of the run.
  Mllog finish(int64_t end_ns);

 private:
  struct Interval {
    std::string key, epoch;  // key without _start
    model::MarkRow mark;
    bool open = true;
  };
  void read_line(const std::string& line);
  void end_interval(const std::string& key, const std::string& epoch, const WallTime& time);

  const TraceClock& clock_;
  std::vector<Interval> intervals_;
  Mllog log_;
};

}  // namespace mlrun::trace
