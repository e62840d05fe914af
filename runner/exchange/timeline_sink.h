// SPDX-License-Identifier: Apache-2.0
// What the formats with a time line (Perfetto, Chrome) get: tracks, and the events on them, by begin.
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

// The first made-up pid and tid, above all that Linux assigns: for processes and threads that have none, or the same one as another.
inline constexpr int64_t kFirstMadeUpId = 1'000'000'000;

enum class TrackKind : uint8_t {
  kGroup,    // only has children
  kProcess,  // its pid is unique
  kThread,   // of the process above it; its tid is unique in the process
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
  TrackId thread = 0;       // of an asynchronous slice, or a counter of a process: the row's thread; 0: none
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
  // Called first. No event begins before `first_ns`.
  [[nodiscard]] virtual Status start(int64_t first_ns) = 0;
  // True: rows of the table `flow`, which are ends of arrows, come as points. False: they come as flows_out and flows_in of other rows; as
  // points only those without an arrow, or whose arrow cannot be drawn between other rows.
  [[nodiscard]] virtual bool takes_flow_rows() const { return false; }
  // Announces a track before its first use; parents before children.
  virtual void track(const Track& track) = 0;
  // Slices of one track nest, and are begun and ended in the order of brackets.
  virtual void begin(const TimelineEvent& event) = 0;
  virtual void end(TrackId track, int64_t ts) = 0;
  virtual void point(const TimelineEvent& event) = 0;
  // One value of the row.
  virtual void counter(const TimelineEvent& event, CounterValue value) = 0;
  // A stack of `thread`: of a sample, or of the row whose begin or point follows. `unit`: of the weight.
  virtual void stack(const TimelineEvent& event, const Track& thread, int64_t stack_id, int64_t weight,
                     StackUnit unit) = 0;
  // Asked before each row. True: open slices are ended, then next_part() is called, and later events go into a new file.
  [[nodiscard]] virtual bool is_full() const { return false; }
  virtual void next_part() {}
  // An error ends the export.
  [[nodiscard]] virtual Status status() const = 0;
};

}  // namespace mlrun::exchange
