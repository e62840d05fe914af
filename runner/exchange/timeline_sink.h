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

enum class TrackKind : uint8_t {
  kGroup,    // only has children
  kProcess,  // of the operating system: pid
  kThread,   // of the process above it: tid
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
  int64_t ts = 0, end = 0;  // equal: it took no time
  uint32_t name = 0;        // number of its text
  std::string_view name_text = {};
  const TimelineTable* table = nullptr;
  const OrderedRows* row = nullptr;
  // Arrows that begin here and end at a later event, and the reverse: the same number at both ends, below 2^53.
  std::span<const uint64_t> flows_out = {}, flows_in = {};
};

enum class StackUnit : uint8_t { kTime, kBytes };

using CounterValue = std::variant<int64_t, double>;

class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  // Before its first use; parents before children.
  virtual void track(const Track& track) = 0;
  // Slices of one track nest, and are begun and ended in the order of brackets.
  virtual void begin(const TimelineEvent& event) = 0;
  virtual void end(TrackId track, int64_t ts) = 0;
  virtual void point(const TimelineEvent& event) = 0;
  virtual void counter(TrackId track, int64_t ts, CounterValue value) = 0;
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
