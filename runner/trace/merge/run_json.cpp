// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/run_json.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/parquet/parquet_table.h"
#include "runner/summary/summary.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

json clock_json(const TraceClock& clock) {
  const ClockError& error = clock.error();
  json stretches = json::array(), offsets = json::array();
  for (const auto& stretch : error.stretches) {
    stretches.push_back({stretch.start_ns, stretch.error_ns});
    offsets.push_back({stretch.start_ns, clock.realtime_offset_ns(stretch.start_ns)});
  }
  return {{"anchors", error.anchors},
          {"anchors_left_out", error.left_out},
          {"error_ns", error.max_ns},
          {"error_median_ns", error.median_ns},
          {"error_by_time", std::move(stretches)},
          {"realtime_offset_by_time", std::move(offsets)},
          {"realtime_offset_start_ns", clock.realtime_offset_ns(clock.first_ns())},
          {"realtime_offset_end_ns", clock.realtime_offset_ns(clock.last_ns())}};
}

// Losses, summed over processes and threads.
json losses_json(const std::vector<model::LossRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, int64_t> sums;
  for (const model::LossRow& row : rows) util::add_to(sums[{row.channel, row.reason, row.unit, row.kind}], row.count);
  json list = json::array();
  for (const auto& [key, count] : sums) {
    const auto& [channel, reason, unit, kind] = key;
    json& entry = list.emplace_back(json{{"channel", channel}, {"reason", reason}, {"count", count}, {"unit", unit}});
    if (!kind.empty()) entry["kind"] = kind;
  }
  return list;
}

// Coverage rows, counted over processes.
json coverage_json(const std::vector<model::CoverageRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> sums;
  for (const model::CoverageRow& row : rows) ++sums[{row.subject, row.detail, row.level}];
  std::vector<model::RunCoverage> list;
  for (const auto& [key, processes] : sums) {
    const auto& [subject, detail, level] = key;
    list.push_back({level, subject, detail, processes});
  }
  return model::json_of(list);
}

json gpu_json(SpoolIndex& index, const GpuTotals& totals) {
  static constexpr std::array kTables = {"api", "kernel", "memcpy", "memset", "sync", "memory", "graph"};
  static_assert(kTables.size() == model::kGpuKinds);
  static constexpr std::array<const char*, 8> kClocks = {"monotonic", "realtime", "none",  "no_end",
                                                         "inverted",  "outside",  "other", "wrapped"};
  json rows = json::object(), clocks = json::object();
  for (size_t i = 0; i < kTables.size(); ++i) rows[kTables[i]] = totals.rows[i];
  for (size_t i = 0; i < kClocks.size(); ++i) clocks[kClocks[i]] = totals.clocks[i];
  return {{"processes", index.gpu_facts().started()},
          {"libraries", index.gpu_facts().describe(index.strings())},
          {"rows", std::move(rows)},
          {"clocks", std::move(clocks)},
          {"nested_calls", totals.nested_calls},
          {"without_call", totals.without_call},
          {"folds", totals.folds},
          {"folded_nodes", totals.folded_nodes}};
}

}  // namespace

json make_run_json(const model::Run& session, SpoolIndex& index, const model::TraceInfo& info,
                   const RowTotals& totals) {
  json run = *session.document;
  for (const char* about_the_recording : {"state", "leader"}) run.erase(about_the_recording);
  if (const auto watched = run.find("watched"); watched != run.end() && watched->is_object())
    watched->erase("processes");
  run["schema_version"] = tables::kTraceSchemaVersion;
  if (!run["clock"].is_object()) run["clock"] = json::object();
  run["clock"].update(clock_json(index.clock()));
  run["totals"] = {{"events", totals.calls + totals.allocs + totals.alloc_small + totals.marks +
                                  totals.gpu_samples.gpu_rows + totals.gpu_samples.process_rows +
                                  totals.gpu_samples.driver_rows + totals.python_stacks + totals.gpu.all_rows()},
                   {"calls", totals.calls},
                   {"allocs", totals.allocs},
                   {"alloc_small", totals.alloc_small},
                   {"processes", info.processes.size()},
                   {"images", info.images.size()},
                   {"threads", info.threads.size()},
                   {"files", info.files.size()},
                   {"stacks", info.stacks.stacks.size()},
                   {"frames", info.stacks.frames.size()},
                   {"marks", totals.marks},
                   {"unmatched_mark_ends", totals.unmatched_mark_ends},
                   {"phases", info.phases.size()},
                   {"gpus", info.gpus.size()},
                   {"gpu_work", totals.gpu.all_rows()},
                   {"gpu_samples", totals.gpu_samples.gpu_rows},
                   {"gpu_process_samples", totals.gpu_samples.process_rows},
                   {"gpu_driver_samples", totals.gpu_samples.driver_rows},
                   {"python_stacks", totals.python_stacks},
                   {"thread_samples", totals.host_samples.thread_rows},
                   {"machine_samples", totals.host_samples.machine_rows},
                   {"counter_samples", totals.host_samples.counters.rows},
                   {"losses", std::count_if(info.losses.begin(), info.losses.end(), summary::is_loss)},
                   {"coverage", info.coverage.size()},
                   {"spool_bytes", index.bytes()}};
  if (index.has_gpu_work()) run["gpu_work"] = gpu_json(index, totals.gpu);
  if (index.events_from_ns() != 0) run["events_from_ns"] = index.events_from_ns();
  run["losses"] = losses_json(info.losses);
  run["coverage"] = coverage_json(info.coverage);
  return run;
}

}  // namespace mlrun::trace
