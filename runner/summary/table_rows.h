// SPDX-License-Identifier: Apache-2.0
// The rows of the summary_* tables: a name for every column, once, for writing and for reading. A visitor is called
// with the name and the field of each column in order; runner/trace/TABLES.md says what they mean.
#pragma once

#include <cstdint>
#include <string>

#include "runner/summary/names.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

struct ValueRow {
  std::string name;
  int64_t value = 0;
  std::string unit;
};
struct HeapRow {
  int32_t proc_id = 0;
  HeapLibrary library;
};
struct LatencyRow {
  uint16_t func = 0;
  Group group = Group::kFiles;
  int64_t low_ns = 0, high_ns = 0, calls = 0;  // durations in [low_ns, high_ns)
};
struct AccessRow {
  Direction direction = Direction::kRead;
  std::string pattern;
  AccessPattern::Count count;
};
struct TimeRow {
  int64_t ts_ns = 0;
  TimeBin bin;
};

inline void visit_totals(auto& visitor, auto& totals, const std::string& prefix = {}) {
  visitor(prefix + "calls", totals.calls);
  visitor(prefix + "errors", totals.errors);
  visitor(prefix + "read_calls", totals.read_calls);
  visitor(prefix + "write_calls", totals.write_calls);
  visitor(prefix + "metadata_calls", totals.metadata_calls);
  visitor(prefix + "bytes_read", totals.bytes_read);
  visitor(prefix + "bytes_written", totals.bytes_written);
  visitor(prefix + "time_ns", totals.time_ns);
}

template <typename Row>
struct Columns;

template <>
struct Columns<ValueRow> {
  static constexpr const char* kTable = "summary_value";
  static void visit(auto& visitor, auto& row) {
    visitor("name", row.name);
    visitor("value", row.value);
    visitor("unit", row.unit);
  }
};

template <>
struct Columns<ProcessSummary> {
  static constexpr const char* kTable = "summary_process";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("parent_proc_id", row.parent_proc_id);
    visitor("pid", row.pid);
    visitor("rank", row.rank);
    visitor("role", row.role);
    visitor("command", row.command);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
    visit_totals(visitor, row.totals[size_t(Group::kFiles)]);
    visit_totals(visitor, row.totals[size_t(Group::kChannels)], "channel_");
    visit_totals(visitor, row.totals[size_t(Group::kOther)], "other_");
    visitor("recorded_allocations", row.recorded_allocations);
    visitor("counted_allocations", row.counted_allocations);
    visitor("heap_peak_ts", row.heap_peak.ts_ns);
    visitor("heap_peak_recorded", row.heap_peak.recorded_bytes);
    visitor("heap_peak_counted", row.heap_peak.counted_bytes);
  }
};

template <>
struct Columns<HeapRow> {
  static constexpr const char* kTable = "summary_heap";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("library_id", row.library.library);
    visitor("library", row.library.name);
    visitor("live_bytes", row.library.live_bytes);
  }
};

template <>
struct Columns<FileSummary> {
  static constexpr const char* kTable = "summary_file";
  static void visit(auto& visitor, auto& row) {
    visitor("file_id", row.file_id);
    visitor("path", row.path);
    visitor("file_system", row.file_system);
    visitor("mount", row.mount);
    visitor("kind", row.kind);
    visit_totals(visitor, row.totals);
  }
};

template <>
struct Columns<DirectorySummary> {
  static constexpr const char* kTable = "summary_directory";
  static void visit(auto& visitor, auto& row) {
    visitor("path", row.path);
    visitor("file_system", row.file_system);
    visitor("mount", row.mount);
    visitor("files", row.files);
    visit_totals(visitor, row.totals);
  }
};

// min, max and the buckets of summary_latency give the histogram back; the quantiles are there for other readers.
struct FuncRow {
  FuncSummary func;
  int64_t min_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, max_ns = 0;
};

template <>
struct Columns<FuncRow> {
  static constexpr const char* kTable = "summary_func";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func.func);
    visitor("func", row.func.name);
    visitor("class", row.func.call_class);
    visitor("group", row.func.group);
    visitor("calls", row.func.calls);
    visitor("errors", row.func.errors);
    visitor("bytes", row.func.bytes);
    visitor("time_ns", row.func.time_ns);
    visitor("min_ns", row.min_ns);
    visitor("p50_ns", row.p50_ns);
    visitor("p95_ns", row.p95_ns);
    visitor("p99_ns", row.p99_ns);
    visitor("max_ns", row.max_ns);
  }
};

template <>
struct Columns<LatencyRow> {
  static constexpr const char* kTable = "summary_latency";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func);
    visitor("group", row.group);
    visitor("low_ns", row.low_ns);
    visitor("high_ns", row.high_ns);
    visitor("calls", row.calls);
  }
};

template <>
struct Columns<ErrorSummary> {
  static constexpr const char* kTable = "summary_error";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func);
    visitor("func", row.name);
    visitor("err", row.err);
    visitor("calls", row.calls);
  }
};

template <>
struct Columns<SizeBucket> {
  static constexpr const char* kTable = "summary_size";
  static void visit(auto& visitor, auto& row) {
    visitor("direction", row.direction);
    visitor("low_bytes", row.low_bytes);
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
  }
};

template <>
struct Columns<AccessRow> {
  static constexpr const char* kTable = "summary_access";
  static void visit(auto& visitor, auto& row) {
    visitor("direction", row.direction);
    visitor("pattern", row.pattern);
    visitor("calls", row.count.calls);
    visitor("bytes", row.count.bytes);
  }
};

template <>
struct Columns<TimeRow> {
  static constexpr const char* kTable = "summary_time";
  static void visit(auto& visitor, auto& row) {
    visitor("ts", row.ts_ns);
    visitor("bytes_read", row.bin.bytes_read);
    visitor("bytes_written", row.bin.bytes_written);
    visitor("time_ns", row.bin.time_ns);
  }
};

}  // namespace mlrun::summary
