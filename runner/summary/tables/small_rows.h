// SPDX-License-Identifier: Apache-2.0
// Columns of the small tables that the report reads, written by the merger (runner/trace/TABLES.md), and of the buckets
// that restore a histogram.
#pragma once

#include "runner/model/rows.h"
#include "runner/summary/tables/table_rows.h"

namespace mlrun::summary {

struct LatencyRow {
  uint16_t func = 0;
  Group group = Group::kFiles;
  int64_t low_ns = 0, high_ns = 0, calls = 0;  // durations in [low_ns, high_ns)
};

template <>
struct Columns<LatencyRow> {
  static constexpr const char* kTable = "summary_latency";
  static void visit(auto& visitor, auto& row) {
    visitor("number", row.func);
    visitor("call_group", row.group);
    visitor("low_ns", row.low_ns);
    visitor("high_ns", row.high_ns);
    visitor("calls", row.calls);
  }
};

template <>
struct Columns<model::PhaseRow> {
  static constexpr const char* kTable = "phase";
  static void visit(auto& visitor, auto& row) {
    visitor("phase_id", row.phase_id);
    visitor("name", row.name);
    visit_places(visitor, {"proc_id"});
    visitor(name_for(visitor, "ts", "start_ns"), row.ts_ns);
    visitor(name_for(visitor, "dur"), row.dur_ns);
    visit_shown(visitor, "end_ns", [&] { return row.end_ns(); });
    visitor("error_ns", row.error_ns);
    visit_known(visitor, "proc_id", row.proc_id);
    visitor("calls", row.calls);
    visitor("bytes_read", row.bytes_read);
    visitor("bytes_written", row.bytes_written);
    visitor(name_for(visitor, "io_ns", "time_ns"), row.io_ns);
    visit_known(visitor, "wait_ns", row.wait_ns, -1, true);
    visit_known(visitor, "compute_ns", row.compute_ns, -1, true);
  }
};

template <>
struct Columns<model::LossRow> {
  static constexpr const char* kTable = "loss";
  static void visit(auto& visitor, auto& row) {
    visitor("channel", row.channel);
    visitor("reason", row.reason);
    visit_known(visitor, "proc_id", row.proc_id);
    visit_known(visitor, "thread_id", row.thread_id);
    visit_known(visitor, name_for(visitor, "first", "first_ns"), row.first_ns);
    visit_known(visitor, name_for(visitor, "last", "last_ns"), row.last_ns);
    visitor("count", row.count);
    visitor("unit", row.unit);
    visitor.later_optional("cpu", row.cpu, -1);
    visitor.later_optional("kind", row.kind);
  }
};

template <>
struct Columns<model::LeftOutRow> {
  static constexpr const char* kTable = "left_out";
  static void visit(auto& visitor, auto& row) {
    visit_known(visitor, "proc_id", row.proc_id);
    visitor("reason", row.reason);
    visitor("calls", row.calls);
    visitor("bytes_read", row.bytes_read);
    visitor("bytes_written", row.bytes_written);
    visitor("time_ns", row.time_ns);
  }
};

template <>
struct Columns<model::FoldedRow> {
  static constexpr const char* kTable = "folded";
  static void visit(auto& visitor, auto& row) {
    visitor("proc_id", row.proc_id);
    visitor("file_id", row.file_id);
    visitor("func", row.func);
    visitor("calls", row.calls);
    visitor("bytes", row.bytes);
    visitor("time_ns", row.time_ns);
    visitor("first", row.first_ns);
    visitor("last", row.last_ns);
  }
};

template <>
struct Columns<model::CoverageRow> {
  static constexpr const char* kTable = "coverage";
  static void visit(auto& visitor, auto& row) {
    visit_known(visitor, "proc_id", row.proc_id);
    visitor("subject", row.subject);
    visitor("detail", row.detail);
    visit_known(visitor, "seen", row.seen, -1);
    visit_known(visitor, "kernel", row.kernel, -1);
    visitor.later("level", row.level);
  }
};

template <>
struct Columns<MachineUse> {
  static constexpr const char* kTable = "summary_machine";
  static void visit(auto& visitor, auto& row) {
    visitor("what", row.what);
    visitor("name", row.name);
    visitor("observed_ns", row.observed_ns);
    visit_known(visitor, "processors", row.processors, -1);
    visit_known(visitor, "busy_ns", row.busy_ns, -1);
    visit_known(visitor, "iowait_ns", row.iowait_ns, -1);
    visit_known(visitor, "steal_ns", row.steal_ns, -1);
    visit_known(visitor, "in_bytes", row.in_bytes, -1);
    visit_known(visitor, "out_bytes", row.out_bytes, -1);
    visit_known(visitor, "peak_bytes", row.peak_bytes, -1);
    visit_known(visitor, "total_bytes", row.total_bytes, -1);
  }
};

}  // namespace mlrun::summary
