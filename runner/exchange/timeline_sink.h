// SPDX-License-Identifier: Apache-2.0
// What the formats with a time line (Perfetto, Chrome) get: tracks, and what is on them, in the order of its begin.
//
//   process ─ thread ─ rows that nest            lane: where rows of a track overlap without nesting, the next ones go to a
//           ├ block I/O ─ lane ─ lane            track of their own below it, so that no two overlap on one
//           └ counters
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runner/exchange/ordered_rows.h"

namespace mlrun::exchange {

struct TimelineTable;

using TrackId = uint32_t;  // from 1; 0: none

// Above every pid and tid that Linux gives out: of processes and threads that have none, or one that another has too.
inline constexpr int64_t kFirstMadeUpId = 1'000'000'000;

enum class TrackKind : uint8_t {
  kGroup,    // only has children
  kProcess,  // pid, which no other has
  kThread,   // of the process above it: tid, which no other thread of it has
  kRows,     // slices and points
  kLane,     // as kRows, for rows that overlap those of the track above
  kCounter,
};

struct Track {
  TrackId id = 0, parent = 0;
  TrackKind kind = TrackKind::kGroup;
  std::string name;
  int64_t pid = 0, tid = 0;
};

// A row on a track. Valid during the call.
struct TimelineEvent {
  TrackId track = 0;
  TrackId thread = 0;       // of an imported row that is on a track of another kind: its thread, if it has one
  int64_t ts = 0, end = 0;  // equal: it took no time
  uint32_t name = 0;        // number of its text
  std::string_view name_text = {};
  const TimelineTable* table = nullptr;
  const OrderedRows* row = nullptr;
  // Arrows that begin here and end at a later event, and the reverse: the same number at both ends, from 1, below 2^53.
  std::span<const uint64_t> flows_out = {}, flows_in = {};
};

enum class StackUnit : uint8_t { kTime, kBytes };

using CounterValue = std::variant<int64_t, double>;

class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  // Before all others. No event begins before `first_ns`.
  [[nodiscard]] virtual Status start(int64_t first_ns) = 0;
  // True: it writes the ends of arrows that the trace has as rows, as points; else they come as flows_out and flows_in.
  [[nodiscard]] virtual bool takes_flow_rows() const { return false; }
  // Before its first use; parents before children.
  virtual void track(const Track& track) = 0;
  // Slices of one track nest, and are begun and ended in the order of brackets.
  virtual void begin(const TimelineEvent& event) = 0;
  virtual void end(TrackId track, int64_t ts) = 0;
  virtual void point(const TimelineEvent& event) = 0;
  // One value of the row.
  virtual void counter(const TimelineEvent& event, CounterValue value) = 0;
  // A stack of the thread of `thread`: of a sample, or of a row that begins next. Its weight is in `unit`.
  virtual void stack(const TimelineEvent& event, const Track& thread, int64_t stack_id, int64_t weight,
                     StackUnit unit) = 0;
  // True: next_part() is due: what follows goes into a new file. Asked before each row; slices that are open are ended first.
  [[nodiscard]] virtual bool is_full() const { return false; }
  virtual void next_part() {}
  // An error ends the export.
  [[nodiscard]] virtual Status status() const = 0;
};

}  // namespace mlrun::exchange
