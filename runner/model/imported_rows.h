// SPDX-License-Identifier: Apache-2.0
// Rows of tables that only imported traces fill, for data of other tools without columns in the other tables. Texts are valid UTF-8 and borrowed;
// they are the last members, so that a row can be stored without them. Columns: runner/trace/TABLES.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "runner/model/rows.h"

namespace mlrun::model {

enum class SliceKind : uint8_t { kThread, kAsync, kFrame, kObject, kRegion, kSyscall };

// A span of time on a thread, or on an asynchronous track.
struct SliceRow {
  Origin origin;
  int64_t slice_id = 0;
  int64_t dur_ns = -1;  // -1: never ended, or unknown
  SliceKind kind = SliceKind::kThread;
  int32_t stack_id = 0;  // stack at its start
  std::string_view name, category;
  std::string_view track;        // id of the asynchronous track; empty: the slice is on its thread
  std::string_view args, other;  // JSON objects
};

enum class FlowStep : uint8_t { kStart, kStep, kEnd };

// A point of a flow, which tools show as an arrow from slice to slice.
struct FlowRow {
  Origin origin;
  int64_t flow_id = 0;
  FlowStep step = FlowStep::kStart;
  bool binds_enclosing = false;  // the point belongs to the slice around it; else to the next slice
  std::string_view name, category, id_text, args;
};

struct CounterRow {
  Origin origin;
  double value = 0;
  std::string_view name, series, category;
};

// A sample of a profiler: the stack of a thread at one time.
struct StackSampleRow {
  Origin origin;
  int32_t cpu = -1;
  int32_t stack_id = 0;
  int64_t period = -1;
  std::string_view event, args;
};

// An event, or the fields of an event, without a place in another table.
struct OtherEventRow {
  Origin origin;
  int64_t dur_ns = -1;
  int32_t stack_id = 0;
  bool has_time = true;
  std::string_view kind, name, category, id, args;
};

}  // namespace mlrun::model
