// SPDX-License-Identifier: Apache-2.0
// MLPerf log lines (":::MLLOG" and one JSON object) as marks and phases. Their wall clock time in milliseconds is put
// on the clock of the trace by what the collector saw of both clocks around that moment.
//
//   POINT_IN_TIME            a mark
//   INTERVAL_START and _END  a mark with a duration and a phase, named by the key and its epoch: "epoch_start" …
//   "epoch_stop" with
//                            epoch_num 3 is "epoch 3"
//
// A stamp is cut to its millisecond, so what it stands for happened anywhere within. A phase begins and ends at the
// moment at which the write of its line began, where that was recorded (log_writes.h):
//
//   stamp 5   |····work····|write "epoch_stop"····|   6      the end is W, the start of the write
//             5            W                      6
//
// and otherwise takes in both milliseconds: it begins at 5 and ends at 6. What lies in the millisecond of an end and of
// the start behind it is the first one's.
//
// Several processes may write one log, as the ranks of a training: then an end belongs to a start that the same process
// wrote, as far as the recorded writes tell, and a phase has the calls of its process and that one's descendants.
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

// Where a line stands in its log, and the beginning of the millisecond that it tells.
struct MllogLine {
  size_t log = 0;
  int64_t place = -1;               // of its first byte; once the log is read, from its end; -1: no line
  int64_t ts_ns = 0, error_ns = 0;  // error: of the conversion alone

  [[nodiscard]] bool known() const { return place >= 0; }
  [[nodiscard]] summary::TimeWindow window() const;
};

struct Mllog {
  struct Bounds {
    MllogLine start, end;
  };
  std::vector<model::MarkRow> marks;    // in order of time
  std::vector<model::PhaseRow> phases;  // likewise; an interval without end goes on to the end of the run
  std::vector<Bounds> bounds;           // of each phase, those that are not cut
  uint64_t outside = 0;                 // marks and intervals of before or after the run, left out
  uint64_t unreadable_lines = 0;
  uint64_t unmatched_ends = 0;
  uint64_t unreadable_files = 0;
};

// In which milliseconds the bounds of the phases lie.
[[nodiscard]] std::vector<summary::TimeWindow> undecided(const Mllog& mllog);

// Moves the bounds of phases to where the writes of their lines began. Requires: writes.finish().
void settle(Mllog& mllog, const LogWrites& writes);

// What a line says; matching of starts and ends comes later.
struct MllogEvent {
  enum class Type : uint8_t { kPoint, kStart, kEnd };
  Type type = Type::kPoint;
  std::string key, epoch;  // key without _start, _stop; the epoch's number
  model::MarkRow mark;     // of an end nothing
  MllogLine line;
  int32_t proc_id = 0;  // which wrote the line; 0: not known, or of no interest
};

class MllogReader {
 public:
  explicit MllogReader(const TraceClock& clock) : clock_(clock) {}

  // Lines that do not hold ":::MLLOG" are passed over.
  void read(std::istream& lines);
  void read_file(const std::string& path);

  // Requires: everything was read. Whether an interval begins again before it has ended, so that starts and ends cannot be
  // matched by their lines alone: several processes wrote them.
  [[nodiscard]] bool is_ambiguous() const;

  // To be called where is_ambiguous(): an end then belongs to a start that the same process wrote, and the phases of a log that
  // several have written are those of their processes. Requires: writes.finish().
  void find_writers(const LogWrites& writes);

  // Requires: everything was read. Start and end of the run: what lies outside is left out, what reaches into it is cut.
  Mllog finish(int64_t start_ns, int64_t end_ns);

 private:
  struct Interval {
    std::string key, epoch;  // key without _start
    model::MarkRow mark;
    int32_t proc_id = 0;
    bool open = true;
    Mllog::Bounds lines;
    int64_t from_ns = 0, to_ns = 0;  // as far as the stamps tell
  };
  void read_line(const std::string& line, int64_t place);
  void match(MllogEvent& event);
  void begin_interval(MllogEvent& event);
  void end_interval(const MllogEvent& event);
  // `is_last`: no other one of its key began later.
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
