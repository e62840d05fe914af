// SPDX-License-Identifier: Apache-2.0
// Rows of the tables that only imported traces fill: what other tools record and no other table has columns for. Texts are valid
// UTF-8 and borrowed; they are the last members, so that a row can be stored without them. Columns: runner/trace/TABLES.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "runner/model/rows.h"

namespace mlrun::model {

enum class SliceKind : uint8_t { kThread, kAsync, kFrame, kObject, kRegion, kSyscall };

// Something with a beginning and an end, on a thread or on a track of its own.
struct SliceRow {
  Origin origin;
  int64_t slice_id = 0;
  int64_t dur_ns = -1;  // -1: never ended, or unknown
  SliceKind kind = SliceKind::kThread;
  int32_t stack_id = 0;  // where it began
  std::string_view name, category;
  std::string_view track;        // id of the asynchronous track; empty: the thread's
  std::string_view args, other;  // JSON objects
};

enum class FlowStep : uint8_t { kStart, kStep, kEnd };

// One end of an arrow between slices.
struct FlowRow {
  Origin origin;
  int64_t flow_id = 0;
  FlowStep step = FlowStep::kStart;
  bool binds_enclosing = false;  // to the slice around it, else to the next one
  std::string_view name, category, id_text, args;
};

struct CounterRow {
  Origin origin;
  double value = 0;
  std::string_view name, series, category;
};

// A sample of a profiler: where a thread was.
struct StackSampleRow {
  Origin origin;
  int32_t cpu = -1;
  int32_t stack_id = 0;
  int64_t period = -1;
  std::string_view event, args;
};

// An event, or a rest of one, that no other table has a place for.
struct OtherEventRow {
  Origin origin;
  int64_t dur_ns = -1;
  int32_t stack_id = 0;
  bool has_time = true;
  std::string_view kind, name, category, id, args;
};

}  // namespace mlrun::model
