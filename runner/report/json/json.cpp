// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json.h"

#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/report/json/json_answer.h"
#include "runner/report/json/json_gpu.h"
#include "runner/report/json/json_kernel.h"
#include "runner/report/json/json_memory.h"
#include "runner/report/json/json_row.h"
#include "runner/report/json/json_values.h"
#include "runner/report/streams.h"
#include "runner/summary/tables/answer_rows.h"
#include "runner/summary/tables/gpu_rows.h"
#include "runner/summary/tables/small_rows.h"
#include "runner/summary/tables/table_rows.h"
#include "runner/summary/tables/values.h"
#include "runner/summary/tracing_cost.h"
#include "runner/util/json_at.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::FuncSummary;
using summary::Summary;
using Json = nlohmann::ordered_json;

// null if the whole is 0.
Json share(int64_t part, int64_t whole) { return whole > 0 ? Json(double(part) / double(whole)) : Json(); }

Json run_json(const Summary& summary) {
  const model::Run& run = summary.run;
  return {{"command", run.command_text()},
          {"exit_status", known(run.exit_status)},
          {"wall_ns", known(run.duration_ns())},
          {"user_ns", known(run.user_ns)},
          {"sys_ns", known(run.sys_ns)},
          {"start_monotonic_ns", known(run.begin_ns())},
          {"start_realtime_ns", known(run.clock.start.realtime_ns)},
          {"cpus", run.placement.cpus.empty() ? Json() : Json(run.placement.cpus)},
          {"mem_node", run.placement.mem_node.empty() ? Json() : Json(run.placement.mem_node)}};
}

// The requested streams.
Json streams_json(const Summary& summary) {
  Json list = Json::array();
  for (const Stream& stream : streams(summary.run)) {
    if (stream.state == StreamState::kOff) continue;
    const bool is_on = stream.state == StreamState::kOn;
    list.push_back({{"name", stream.name},
                    {"asked", stream.asked},
                    {"recorded", is_on},
                    {"reason", is_on ? Json() : Json(stream.reason)}});
  }
  return list;
}

// Sums over the functions of each class and group.
Json classes_json(const std::vector<FuncSummary>& funcs) {
  std::vector<FuncSummary> classes;
  for (const FuncSummary& func : funcs) {
    FuncSummary* same = nullptr;
    for (FuncSummary& one : classes) {
      if (one.call_class == func.call_class && one.group == func.group) same = &one;
    }
    if (!same) same = &classes.emplace_back(FuncSummary{0, {}, func.call_class, func.group, 0, 0, 0, 0, {}});
    util::add_to(same->calls, func.calls);
    util::add_to(same->errors, func.errors);
    util::add_to(same->bytes, func.bytes);
    util::add_to(same->time_ns, func.time_ns);
    same->latency.add(func.latency);
  }
  return array(classes, [](const FuncSummary& one) {
    Json out = row_json(summary::FuncRow(one));
    out.erase("func");
    return out;
  });
}

Json file_access_json(const summary::FileAccessPattern& pattern) {
  Json out;
  summary::visit_patterns(
      pattern, [&](const char* name, const summary::FileAccessPattern::Count& count) { out[name] = row_json(count); });
  const int64_t bytes = pattern.known_bytes();
  const int64_t calls = pattern.sequential.calls + pattern.forward.calls + pattern.backward.calls;
  out["sequential_share_of_bytes"] = share(pattern.sequential.bytes, bytes);
  out["sequential_share_of_calls"] = share(pattern.sequential.calls, calls);
  return out;
}

// An array for each column.
Json timeline_json(const Summary& summary) {
  Json out = places({"start_ns", "bin_ns"});
  const Json columns = row_json(summary::TimeBin());
  for (const auto& [name, none] : columns.items()) out[name] = Json::array();
  for (const summary::TimeBin& bin : summary.timeline) {
    const Json row = row_json(bin);
    for (const auto& [name, value] : row.items()) out[name].push_back(value);
  }
  return out;
}

// The figures of a phase that ended before the first kept event are unknown.
Json phase_json(const model::PhaseRow& phase, int64_t events_from_ns) {
  Json out = row_json(phase);
  if (phase.end_ns() > events_from_ns) return out;
  for (const char* figure : {"calls", "bytes_read", "bytes_written", "time_ns"}) out[figure] = Json();
  return out;
}

Json cost_json(const summary::CostEstimate& cost) {
  const auto line = [](const summary::CostLine& of) {
    return Json{{"class", of.cost_class},
                {"calls", of.calls},
                {"cost_per_call_ns", of.per_call_ns},
                {"cost_ns", of.total_ns()}};
  };
  return {{"source", cost.source},
          {"measured_realtime_ns", known(cost.measured_realtime_ns, 0)},
          {"classes", array(cost.lines, line)},
          {"calls_without_cost", cost.calls_without_cost},
          {"left_out", cost.left_out},
          {"total_ns", cost.total_ns},
          {"share_of_cpu", known(cost.share_of_cpu)}};
}

// The tracing cost of calls only; null: unknown.
Json calls_cost_ns(const std::optional<summary::CostEstimate>& cost) {
  if (!cost) return {};
  double sum = 0;
  for (const summary::CostLine& line : cost->lines) sum += line.is_call ? line.total_ns() : 0;
  return sum;
}

Json tracing_json(const Summary& summary) {
  const model::Run& run = summary.run;
  const std::optional<summary::CostEstimate> cost = summary::cost_estimate(summary);
  const Json calls_cost = calls_cost_ns(cost);
  Json out =
      places({"events", "calls", "allocations", "counted_allocations", "alloc_min_bytes", "summary_only", "fold_ns",
              "folded_calls", "alloc_sample_bytes", "estimated_allocations", "estimated_bytes", "heap_blocks_left_out",
              "heap_bytes_left_out", "mapped_bytes_left_out", "counted_frees", "served_calls"});
  out["events"] = run.total("events").value_or(summary.calls + summary.allocations);
  out["summary_only"] = run.options.summary_only;
  out["cost_per_call_ns"] = cost && summary.calls > 0 ? Json(calls_cost.get<double>() / double(summary.calls)) : Json();
  out["calls_cost_ns"] = calls_cost;
  out["cost"] = cost ? cost_json(*cost) : Json();
  out["collector_cpu_ns"] = known(run.collector.cpu_ns);
  return out;
}

// Puts numbers into members that exist already. A new number is appended to the others of its object.
void put_values(const Summary& summary, Json& out) {
  summary::visit_values(summary, JsonValues{out});
  if (summary.alloc_sample_bytes > 0) return;
  out["tracing"]["estimated_allocations"] = out["tracing"]["estimated_bytes"] = Json();
}

}  // namespace

nlohmann::ordered_json to_json(const Summary& summary) {
  const summary::Totals files = summary.totals(summary::Group::kFiles);
  Json totals = row_json(files);
  totals["metadata_share_of_calls"] = share(files.metadata_calls, files.calls);
  const int64_t events_from_ns = summary.run.events_from_ns.value_or(INT64_MIN);
  const auto phase = [&](const model::PhaseRow& row) { return phase_json(row, events_from_ns); };
  Json out = {
      {"schema", "mlrun-summary"},
      {"schema_version", summary::kSchemaVersion},
      {"run", run_json(summary)},
      {"complete", summary.complete()},
      {"losses", rows_json(summary.losses)},
      {"coverage", rows_json(summary.coverage)},
      {"left_out", rows_json(summary.left_out)},
      {"totals",
       {{"files", std::move(totals)},
        {"channels", row_json(summary.totals(summary::Group::kChannels))},
        {"other", row_json(summary.totals(summary::Group::kOther))},
        {"waits", row_json(summary.totals(summary::Group::kWaits))}}},
      {"processes", rows_json(summary.processes)},
      {"phases", array(summary.phases, phase)},
      {"marks", rows_json(summary.marks)},
      {"collectives", rows_json(summary.collectives)},
      {"gpus", rows_json(summary.gpus)},
      {"machine", rows_json(summary.machine)},
      {"gpu_work", gpu_work_json(summary)},
      {"gpu_files", rows_json(summary.gpu_files)},
      {"torch_memory", rows_json(summary.torch_memory)},
      {"gpu_idle", rows_json(summary.gpu_idle)},
      {"python", rows_json(summary.python)},
      {"gpu_steps", util::json_at(*summary.run.document, "/gpu_steps")},
      {"files_touched", Json()},
      {"files_without_place", Json()},
      {"files", rows_json(summary.files)},
      {"directories_touched", Json()},
      {"directories", rows_json(summary.directories)},
      {"file_trees", rows_json(summary.trees)},
      {"functions", array(summary.funcs, [](const FuncSummary& func) { return row_json(summary::FuncRow(func)); })},
      {"classes", classes_json(summary.funcs)},
      {"errors", rows_json(summary.errors)},
      {"sites", rows_json(summary.sites)},
      {"file_access",
       {{"read", file_access_json(summary.file_access[0])}, {"write", file_access_json(summary.file_access[1])}}},
      {"reread", {{"ratio", share(summary.reread.bytes_read, summary.reread.distinct_bytes)}}},
      {"sizes", rows_json(summary.sizes)},
      {"timeline", timeline_json(summary)},
      {"kernel_side", kernel_side_json(summary)},
      {"splits", rows_json(summary.splits)},
      {"devices", devices_json(summary)},
      {"syscalls", syscalls_json(summary)},
      {"streams", streams_json(summary)},
      {"tracing", tracing_json(summary)}};
  put_values(summary, out);
  add_memory(summary.run, out);
  add_answer(summary.answer, out);
  return out;
}

}  // namespace mlrun::report
