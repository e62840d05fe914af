// SPDX-License-Identifier: Apache-2.0
// Columns of the tables that hold the answer (runner/summary/answer.h), and the files by time. Traces of earlier versions lack
// them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include "runner/summary/answer.h"
#include "runner/summary/tables/table_rows.h"

namespace mlrun::summary {

struct TimeShareRow {
  std::string activity, state;
  int64_t ns = 0;
};

template <>
struct Columns<TimeShareRow> {
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
    visitor("low_ppm", row.low_ppm);
    visitor("high_ppm", row.high_ppm);
    visitor("measured_on", row.measured_on);
    visitor("evidence", row.evidence);
    visitor("command", row.command);
    visitor("remedy", row.remedy);
    visitor("at_most_saved_ns", row.at_most_saved_ns);
    visitor("against", row.against);
  }
};

template <>
struct Columns<WaitedFor> {
  static constexpr const char* kTable = "summary_waited_for";
  static void visit(auto& visitor, auto& row) {
    visitor("role", row.role);
    visitor("thread", row.thread);
    visitor("proc_id", row.proc_id);
    visitor("pid", row.pid);
    visitor("tid", row.tid);
    visitor("doing", row.doing);
    visitor("line", row.line);
    visitor("link", row.link);
    visitor("ns", row.ns);
  }
};

template <>
struct Columns<FileTree> {
  static constexpr const char* kTable = "summary_tree";
  static void visit(auto& visitor, auto& row) {
    visitor("kind", row.kind);
    visitor("path", row.path);
    visitor("folders", row.folders);
    visitor("files", row.files);
    visitor("missing", row.missing);
    visit_totals(visitor, row.totals);
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
    visitor("ts", row.ts_ns);
    visitor("dur", row.dur_ns);
    visitor("wait_ns", row.wait_ns);
    visitor("compute_ns", row.compute_ns);
    visitor("checkpoint_ns", row.checkpoint_ns);
    visitor("other_ns", row.other_ns);
  }
};

// The scalar values, by name.
template <typename A, typename Visit>
void visit_answer(A& answer, Visit visit) {
  visit("driver_thread_id", "id", answer.driver_thread_id);
  visit("driver_tid", "id", answer.driver_tid);
  visit("driver_pid", "id", answer.driver_pid);
  visit("divided_wall", "ns", answer.wall_ns);
  visit("startup", "ns", answer.startup_ns);
  visit("batches_from", "ns", answer.batches_from_ns);
  visit("batches_to", "ns", answer.batches_to_ns);
  visit("without_batch", "ns", answer.without_batch_ns);
  visit("without_batch_low", "ns", answer.low_ns);
  visit("without_batch_high", "ns", answer.high_ns);
  visit("driver_looks", "samples", answer.looks);
  visit("not_followed", "ns", answer.not_followed_ns);
  visit("driver_waiting", "ns", answer.waiting_ns);
  visit("steps", "steps", answer.steps);
  visit("steps_from", "number", answer.steps_from);
  visit("steps_sure_ppm", "ppm", answer.steps_sure_ppm);
}

// The name's place in a list of names; the first one if it is none of them.
template <typename Enum>
Enum named(const auto& names, const std::string& name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? Enum{} : static_cast<Enum>(found - std::begin(names));
}

}  // namespace mlrun::summary
