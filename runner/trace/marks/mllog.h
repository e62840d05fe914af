// SPDX-License-Identifier: Apache-2.0
// Converts MLPerf log lines (":::MLLOG" and one JSON object) to marks and phases. Their wall clock time in milliseconds
// is converted to the trace's clock by the collector's readings of both clocks around that moment.
//
//   POINT_IN_TIME            a mark
//   INTERVAL_START and _END  a mark with a duration, and a phase named by the key and its epoch: "epoch_start" …
//                            "epoch_stop" with epoch_num 3 is "epoch 3"
//
// A stamp is cut to a millisecond, so the event happened anywhere within it. A phase begins and ends at the start of
// the write of its line, if that was recorded (log_writes.h):
//
//   stamp 5   |····work····|write "epoch_stop"····|   6      the end is W, the start of the write
//             5            W                      6
//
// and otherwise includes both milliseconds: it begins at 5 and ends at 6. If an interval begins in the millisecond in
// which another ends, that millisecond belongs to the first one.
//
// Several processes may write one log, as the ranks of a training: an end then belongs to a start that the same process
// wrote, as far as the writes are known, and a phase has the calls of its process and its descendants.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/model/rows.h"
#include "runner/summary/meters/phase_meter.h"
#include "runner/trace/marks/log_writes.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

// Position of a line in its log, and the beginning of its stamp's millisecond.
struct MllogLine {
  size_t log = 0;
  int64_t place = -1;  // of its first byte: offset; once the log is read, distance from its end; -1: no line
  int64_t ts_ns = 0, error_ns = 0;  // error: only of the conversion

  [[nodiscard]] bool known() const { return place >= 0; }
  [[nodiscard]] summary::TimeWindow window() const;
};

struct Mllog {
  struct Bounds {
    MllogLine start, end;
  };
  std::vector<model::MarkRow> marks;    // in order of time
  std::vector<model::PhaseRow> phases;  // in order of time; an interval without end lasts until the end of the run
  std::vector<Bounds> bounds;           // of each phase, before the cut at the run's bounds
  uint64_t outside = 0;                 // marks and intervals before or after the run, which are dropped
  uint64_t unreadable_lines = 0;
  uint64_t unmatched_ends = 0;
  uint64_t unreadable_files = 0;
};

// The milliseconds that contain the bounds of the phases.
[[nodiscard]] std::vector<summary::TimeWindow> undecided(const Mllog& mllog);

// Moves the bounds of phases to the starts of their lines' writes. Requires: writes.finish().
void settle(Mllog& mllog, const LogWrites& writes);

// Content of a line; starts and ends are matched later.
struct MllogEvent {
  enum class Type : uint8_t { kPoint, kStart, kEnd };
  Type type = Type::kPoint;
  std::string key, epoch;  // key without _start, _stop; the epoch's number
  model::MarkRow mark;     // empty for an end
  MllogLine line;
  int32_t proc_id = 0;  // the process that wrote the line; 0: unknown, or not needed
};

class MllogReader {
 public:
  explicit MllogReader(const TraceClock& clock) : clock_(clock) {}

  // Ignores lines without ":::MLLOG".
  void read(std::istream& lines);
  void read_file(const std::string& path);

  // Whether an interval begins again before it has ended, so that lines alone do not match starts and ends: several
  // processes wrote them. Requires: everything was read.
  [[nodiscard]] bool is_ambiguous() const;

  // Call it if is_ambiguous(): matches an end with a start that the same process wrote, and assigns phases of a shared
  // log to their processes. Requires: writes.finish().
  void find_writers(const LogWrites& writes);

  // Drops marks and intervals outside of the run [start_ns, end_ns], and cuts phases at its bounds. Requires:
  // everything was read.
  Mllog finish(int64_t start_ns, int64_t end_ns);

 private:
  struct Interval {
    std::string key, epoch;  // key without _start
    model::MarkRow mark;
    int32_t proc_id = 0;
    bool open = true;
    Mllog::Bounds lines;
    int64_t from_ns = 0, to_ns = 0;  // as far as the stamps determine it
  };
  void read_line(const std::string& line, int64_t place);
  void match(MllogEvent& event);
  void begin_interval(MllogEvent& event);
  void end_interval(const MllogEvent& event);
  // `is_last`: no interval of its key began later.
  void keep(Interval interval, bool is_last, int64_t start_ns, int64_t end_ns);
  void sort_phases();

  const TraceClock& clock_;
  std::vector<MllogEvent> events_;
  std::vector<Interval> intervals_;
  std::map<std::pair<size_t, int32_t>, MllogLine> last_ends_;  // by log and process
  size_t logs_ = 0;
  Mllog log_;
};

}  // namespace mlrun::trace
