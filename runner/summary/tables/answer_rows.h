// SPDX-License-Identifier: Apache-2.0
// Columns of the tables that hold the answer (runner/summary/answer.h), and the files by time. Traces of earlier versions lack
// them.
#pragma once

#include <cstddef>

#include "runner/summary/answer.h"
#include "runner/summary/tables/table_rows.h"

namespace mlrun::summary {

inline const char* column_text(Activity activity) { return kActivityNames[size_t(activity)]; }
inline const char* column_text(State state) { return kStateNames[size_t(state)]; }

template <>
struct Columns<TimeShare> {
  static constexpr const char* kTable = "summary_activity";
  static void visit(auto& visitor, auto& row) {
    visitor("activity", row.activity);
    visitor("state", row.state);
    visitor("ns", row.ns);
  }
};

template <>
struct Columns<Finding> {
  static constexpr const char* kTable = "finding";
  static void visit(auto& visitor, auto& row) {
    visitor("cause", row.cause);
    visitor("also", row.also);
    visitor("claim", row.claim);
    visitor("explains_ns", row.explains_ns);
    visit_places(visitor, {"share"});  // share of the answer's wall time
    visit_share(visitor, "low", row.low_ppm);
    visit_share(visitor, "high", row.high_ppm);
    visitor("measured_on", row.measured_on);
    visitor("evidence", row.evidence);
    visitor("command", row.command);
    visitor("remedy", row.remedy);
    visit_known(visitor, "at_most_saved_ns", row.at_most_saved_ns, -1);
    visit_known(visitor, "against", row.against);
  }
};

template <>
struct Columns<WaitedFor> {
  static constexpr const char* kTable = "summary_waited_for";
  static void visit(auto& visitor, auto& row) {
    visitor("role", row.role);
    visit_known(visitor, "thread", row.thread);
    visitor("proc_id", row.proc_id);
    visitor("pid", row.pid);
    visitor("tid", row.tid);
    visitor("doing", row.doing);
    visit_known(visitor, "line", row.line);
    visitor("link", row.link);
    visitor(name_for(visitor, "ns", "time_ns"), row.ns);
  }
};

template <>
struct Columns<FileTree> {
  static constexpr const char* kTable = "summary_tree";
  static void visit(auto& visitor, auto& row) {
    visitor("kind", row.kind);
    visit_known(visitor, "path", row.path);
    visitor("folders", row.folders);
    visitor("files", row.files);
    visitor("missing", row.missing);
    visit_totals(visitor, row.totals, "totals");
    visitor("end_checks", row.end_checks);
    visitor("sequential_bytes", row.sequential_bytes);
    visitor("random_bytes", row.random_bytes);
    visitor("followed_bytes", row.followed_bytes);
    visitor("distinct_bytes", row.distinct_bytes);
  }
};

template <>
struct Columns<StepRow> {
  static constexpr const char* kTable = "step";
  static void visit(auto& visitor, auto& row) {
    visitor("step", row.step);
    visitor(name_for(visitor, "ts", "start_ns"), row.ts_ns);
    visitor(name_for(visitor, "dur", "duration_ns"), row.dur_ns);
    visitor("wait_ns", row.wait_ns);
    visitor("compute_ns", row.compute_ns);
    visitor("checkpoint_ns", row.checkpoint_ns);
    visitor("other_ns", row.other_ns);
  }
};

}  // namespace mlrun::summary
