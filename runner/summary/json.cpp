// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/json.h"

#include <optional>
#include <string>
#include <utility>

#include "runner/summary/names.h"
#include "runner/summary/run_facts.h"

namespace mlrun::summary {
namespace {

using Json = nlohmann::ordered_json;

// null where the model has a number for "not known".
Json known(int64_t value, int64_t none) { return value == none ? Json() : Json(value); }

template <typename T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// null without a whole.
Json share(int64_t part, int64_t whole) { return whole > 0 ? Json(double(part) / double(whole)) : Json(); }

template <typename Items>
Json array(const Items& items, auto to) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(to(item));
  return out;
}

Json totals_json(const Totals& totals) {
  return {{"calls", totals.calls},
          {"errors", totals.errors},
          {"read_calls", totals.read_calls},
          {"write_calls", totals.write_calls},
          {"metadata_calls", totals.metadata_calls},
          {"bytes_read", totals.bytes_read},
          {"bytes_written", totals.bytes_written},
          {"time_ns", totals.time_ns}};
}

Json run_json(const Summary& summary) {
  const RunFacts run = run_facts(summary.run);
  return {{"command", run.command},
          {"exit_status", known(run.exit_status)},
          {"wall_ns", known(run.wall_ns)},
          {"user_ns", known(run.user_ns)},
          {"sys_ns", known(run.sys_ns)},
          {"start_monotonic_ns", known(run.start_monotonic_ns)},
          {"start_realtime_ns", known(run.start_realtime_ns)}};
}

Json heap_json(const ProcessSummary& process) {
  const auto library = [](const HeapLibrary& of) {
    return Json{{"library", of.library == 0 ? Json() : Json(of.name)}, {"live_bytes", of.live_bytes}};
  };
  return {{"peak_bytes", process.heap_peak.bytes()},
          {"peak_recorded_bytes", process.heap_peak.recorded_bytes},
          {"peak_counted_bytes", process.heap_peak.counted_bytes},
          {"peak_ts_ns", known(process.heap_peak.ts_ns, 0)},
          {"recorded_allocations", process.recorded_allocations},
          {"counted_allocations", process.counted_allocations},
          {"live_at_peak", array(process.heap_libraries, library)}};
}

Json process_json(const ProcessSummary& process) {
  return {{"proc_id", process.proc_id},
          {"parent_proc_id", known(process.parent_proc_id, 0)},
          {"pid", process.pid},
          {"rank", known(process.rank, -1)},
          {"role", process.role},
          {"command", process.command},
          {"first_ns", process.first_ns},
          {"last_ns", process.last_ns},
          {"files", totals_json(process.files())},
          {"channels", totals_json(process.totals[size_t(Group::kChannels)])},
          {"other", totals_json(process.totals[size_t(Group::kOther)])},
          {"heap", heap_json(process)}};
}

Json file_json(const FileSummary& file) {
  return {{"file_id", known(file.file_id, 0)},
          {"path", file.path},
          {"file_system", file.file_system},
          {"mount", file.mount},
          {"kind", file.kind},
          {"totals", totals_json(file.totals)}};
}

Json directory_json(const DirectorySummary& directory) {
  return {{"path", directory.path},
          {"file_system", directory.file_system},
          {"mount", directory.mount},
          {"files", directory.files},
          {"totals", totals_json(directory.totals)}};
}

Json latency_json(const LogHistogram& latency) {
  return {{"min", latency.min()},
          {"p50", latency.quantile(0.5)},
          {"p95", latency.quantile(0.95)},
          {"p99", latency.quantile(0.99)},
          {"max", latency.max()}};
}

Json func_json(const FuncSummary& func) {
  return {{"func", func.name},
          {"class", func.call_class},
          {"group", group_name(func.group)},
          {"calls", func.calls},
          {"errors", func.errors},
          {"bytes", func.bytes},
          {"time_ns", func.time_ns},
          {"latency_ns", latency_json(func.latency)}};
}

// The functions of each class and group together.
Json classes_json(const std::vector<FuncSummary>& funcs) {
  std::vector<FuncSummary> classes;
  for (const FuncSummary& func : funcs) {
    FuncSummary* same = nullptr;
    for (FuncSummary& one : classes) {
      if (one.call_class == func.call_class && one.group == func.group) same = &one;
    }
    if (!same) same = &classes.emplace_back(FuncSummary{0, {}, func.call_class, func.group, 0, 0, 0, 0, {}});
    same->calls += func.calls;
    same->errors += func.errors;
    same->bytes += func.bytes;
    same->time_ns += func.time_ns;
    same->latency.add(func.latency);
  }
  return array(classes, [](const FuncSummary& one) {
    Json out = func_json(one);
    out.erase("func");
    return out;
  });
}

Json access_json(const AccessPattern& pattern) {
  const auto count = [](const AccessPattern::Count& of) { return Json{{"calls", of.calls}, {"bytes", of.bytes}}; };
  const int64_t bytes = pattern.sequential.bytes + pattern.forward.bytes + pattern.backward.bytes;
  const int64_t calls = pattern.sequential.calls + pattern.forward.calls + pattern.backward.calls;
  return {{"sequential", count(pattern.sequential)},
          {"forward", count(pattern.forward)},
          {"backward", count(pattern.backward)},
          {"unknown", count(pattern.unknown)},
          {"sequential_share_of_bytes", share(pattern.sequential.bytes, bytes)},
          {"sequential_share_of_calls", share(pattern.sequential.calls, calls)}};
}

Json sizes_json(const std::vector<SizeBucket>& sizes) {
  return array(sizes, [](const SizeBucket& bucket) {
    return Json{{"direction", direction_name(bucket.direction)},
                {"low_bytes", bucket.low_bytes},
                {"high_bytes", bucket.low_bytes == 0 ? 1 : bucket.low_bytes * 2},
                {"calls", bucket.calls},
                {"bytes", bucket.bytes}};
  });
}

Json reread_json(const Reread& reread) {
  return {{"ratio", share(reread.bytes_read, reread.distinct_bytes)},
          {"bytes_read", reread.bytes_read},
          {"distinct_bytes", reread.distinct_bytes},
          {"page_counted_files", reread.page_counted_files},
          {"bytes_left_out", reread.bytes_left_out}};
}

Json timeline_json(const Summary& summary) {
  const auto column = [&](int64_t TimeBin::*field) {
    return array(summary.timeline, [&](const TimeBin& bin) { return Json(bin.*field); });
  };
  return {{"start_ns", summary.start_ns},
          {"bin_ns", summary.bin_ns},
          {"bytes_read", column(&TimeBin::bytes_read)},
          {"bytes_written", column(&TimeBin::bytes_written)},
          {"time_ns", column(&TimeBin::time_ns)}};
}

Json phase_json(const model::PhaseRow& phase) {
  return {{"phase_id", phase.phase_id},
          {"name", phase.name},
          {"proc_id", known(phase.proc_id, 0)},
          {"start_ns", phase.start_ns},
          {"end_ns", phase.end_ns},
          {"error_ns", phase.error_ns},
          {"calls", phase.calls},
          {"bytes_read", phase.bytes_read},
          {"bytes_written", phase.bytes_written},
          {"time_ns", phase.io_ns}};
}

Json loss_json(const model::LossRow& loss) {
  return {{"channel", loss.channel},
          {"reason", loss.reason},
          {"proc_id", known(loss.proc_id, 0)},
          {"thread_id", known(loss.thread_id, 0)},
          {"first_ns", known(loss.first_ns, 0)},
          {"last_ns", known(loss.last_ns, 0)},
          {"count", loss.count},
          {"unit", loss.unit}};
}

Json coverage_json(const model::CoverageRow& row) {
  return {{"proc_id", known(row.proc_id, 0)},
          {"subject", row.subject},
          {"detail", row.detail},
          {"seen", known(row.seen, -1)},
          {"kernel", known(row.kernel, -1)}};
}

Json tracing_json(const Summary& summary) {
  const RunFacts run = run_facts(summary.run);
  return {{"events", run.events.value_or(summary.calls + summary.allocations)},
          {"calls", summary.calls},
          {"allocations", summary.allocations},
          {"counted_allocations", summary.counted_allocations},
          {"alloc_min_bytes", summary.alloc_min_bytes},
          {"heap_blocks_left_out", summary.heap_blocks_left_out},
          {"heap_bytes_left_out", summary.heap_bytes_left_out},
          {"cost_per_call_ns", known(run.cost_per_call_ns)},
          {"calls_cost_ns", run.cost_per_call_ns ? Json(*run.cost_per_call_ns * double(summary.calls)) : Json()},
          {"collector_cpu_ns", known(run.collector_cpu_ns)}};
}

}  // namespace

nlohmann::ordered_json to_json(const Summary& summary) {
  const Totals files = summary.totals(Group::kFiles);
  Json totals = totals_json(files);
  totals["metadata_share_of_calls"] = share(files.metadata_calls, files.calls);
  return {{"schema", "mlrun-summary"},
          {"schema_version", kSchemaVersion},
          {"run", run_json(summary)},
          {"complete", summary.losses.empty() && summary.coverage.empty()},
          {"losses", array(summary.losses, loss_json)},
          {"coverage", array(summary.coverage, coverage_json)},
          {"totals",
           {{"files", std::move(totals)},
            {"channels", totals_json(summary.totals(Group::kChannels))},
            {"other", totals_json(summary.totals(Group::kOther))}}},
          {"processes", array(summary.processes, process_json)},
          {"phases", array(summary.phases, phase_json)},
          {"files_touched", summary.files_touched},
          {"files_without_place", summary.files_without_place},
          {"files", array(summary.files, file_json)},
          {"directories_touched", summary.directories_touched},
          {"directories", array(summary.directories, directory_json)},
          {"functions", array(summary.funcs, func_json)},
          {"classes", classes_json(summary.funcs)},
          {"errors", array(summary.errors,
                           [](const ErrorSummary& error) {
                             return Json{{"func", error.name},
                                         {"errno", error.err},
                                         {"name", errno_name(error.err)},
                                         {"calls", error.calls}};
                           })},
          {"access", {{"read", access_json(summary.access[0])}, {"write", access_json(summary.access[1])}}},
          {"reread", reread_json(summary.reread)},
          {"sizes", sizes_json(summary.sizes)},
          {"timeline", timeline_json(summary)},
          {"tracing", tracing_json(summary)}};
}

}  // namespace mlrun::summary
