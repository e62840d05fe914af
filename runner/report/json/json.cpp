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
#include "runner/report/run_facts.h"
#include "runner/report/streams.h"
#include "runner/summary/names.h"
#include "runner/summary/tracing_cost.h"
#include "runner/util/json_at.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

using Json = nlohmann::ordered_json;

// null if the whole is 0.
Json share(int64_t part, int64_t whole) { return whole > 0 ? Json(double(part) / double(whole)) : Json(); }

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
  const RunFacts run = run_facts(*summary.run);
  return {{"command", run.command},
          {"exit_status", known(run.exit_status)},
          {"wall_ns", known(run.wall_ns)},
          {"user_ns", known(run.user_ns)},
          {"sys_ns", known(run.sys_ns)},
          {"start_monotonic_ns", known(run.start_monotonic_ns)},
          {"start_realtime_ns", known(run.start_realtime_ns)},
          {"cpus", run.cpus.empty() ? Json() : Json(run.cpus)},
          {"mem_node", run.mem_nodes.empty() ? Json() : Json(run.mem_nodes)}};
}

// The requested streams.
Json streams_json(const Summary& summary) {
  Json list = Json::array();
  for (const Stream& stream : streams(*summary.run)) {
    if (stream.state == StreamState::kOff) continue;
    const bool is_on = stream.state == StreamState::kOn;
    list.push_back({{"name", stream.name},
                    {"asked", stream.asked},
                    {"recorded", is_on},
                    {"reason", is_on ? Json() : Json(stream.reason)}});
  }
  return list;
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
          {"live_at_peak", array(process.heap_libraries, library)},
          {"mapped_peak_bytes", known(process.mapped_peak.bytes, -1)},
          {"mapped_peak_ts_ns", known(process.mapped_peak.ts_ns, 0)},
          {"mapped_noreserve_peak_bytes", known(process.mapped_peak.noreserve_bytes, -1)}};
}

Json process_json(const ProcessSummary& process) {
  const auto wait = [](const WaitSummary& of) {
    return Json{{"func", of.name}, {"calls", of.calls}, {"time_ns", of.time_ns}};
  };
  return {{"proc_id", process.proc_id},
          {"parent_proc_id", known(process.parent_proc_id, 0)},
          {"pid", process.pid},
          {"rank", known(process.rank, -1)},
          {"role", process.role},
          {"command", process.command},
          {"ended", process.end.empty() ? Json() : Json(process.end)},
          {"first_ns", process.first_ns},
          {"last_ns", process.last_ns},
          {"files", totals_json(process.files())},
          {"channels", totals_json(process.totals[size_t(Group::kChannels)])},
          {"other", totals_json(process.totals[size_t(Group::kOther)])},
          {"waits", totals_json(process.totals[size_t(Group::kWaits)])},
          {"waited_in", array(process.waits, wait)},
          {"heap", heap_json(process)}};
}

Json file_json(const FileSummary& file) {
  return {{"file_id", known(file.file_id, 0)},
          {"path", file.path},
          {"file_system", file.file_system},
          {"mount", file.mount},
          {"kind", file.kind},
          {"totals", totals_json(file.totals)},
          {"missing_bytes", known(file.misses.missing_bytes, -1)},
          {"ahead_bytes", known(file.misses.ahead_bytes, -1)}};
}

Json directory_json(const DirectorySummary& directory) {
  return {{"path", directory.path},
          {"file_system", directory.file_system},
          {"mount", directory.mount},
          {"files", directory.files},
          {"totals", totals_json(directory.totals)},
          {"missing_bytes", known(directory.misses.missing_bytes, -1)},
          {"ahead_bytes", known(directory.misses.ahead_bytes, -1)}};
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
    Json out = func_json(one);
    out.erase("func");
    return out;
  });
}

Json access_json(const AccessPattern& pattern) {
  const auto count = [](const AccessPattern::Count& of) { return Json{{"calls", of.calls}, {"bytes", of.bytes}}; };
  const int64_t bytes = pattern.known_bytes();
  const int64_t calls = pattern.sequential.calls + pattern.forward.calls + pattern.backward.calls;
  return {{"sequential", count(pattern.sequential)},
          {"forward", count(pattern.forward)},
          {"backward", count(pattern.backward)},
          {"unknown", count(pattern.unknown)},
          {"sequential_share_of_bytes", share(pattern.sequential.bytes, bytes)},
          {"sequential_share_of_calls", share(pattern.sequential.calls, calls)}};
}

// Buckets double in width; the last one is open-ended.
int64_t high_bytes(const SizeBucket& bucket) {
  if (bucket.low_bytes <= 0) return 1;
  return bucket.low_bytes > INT64_MAX / 2 ? INT64_MAX : bucket.low_bytes * 2;
}

Json sizes_json(const std::vector<SizeBucket>& sizes) {
  return array(sizes, [](const SizeBucket& bucket) {
    return Json{{"direction", direction_name(bucket.direction)},
                {"low_bytes", bucket.low_bytes},
                {"high_bytes", high_bytes(bucket)},
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

Json tree_json(const FileTree& tree) {
  return {{"kind", tree.kind},
          {"path", tree.path.empty() ? Json() : Json(tree.path)},
          {"folders", tree.folders},
          {"files", tree.files},
          {"missing", tree.missing},
          {"totals", totals_json(tree.totals)},
          {"end_checks", tree.end_checks},
          {"sequential_bytes", tree.sequential_bytes},
          {"random_bytes", tree.random_bytes},
          {"followed_bytes", tree.followed_bytes},
          {"distinct_bytes", tree.distinct_bytes}};
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

// The figures of a phase that ended before the first kept event are unknown.
Json phase_json(const model::PhaseRow& phase, int64_t events_from_ns) {
  const auto of_calls = [&](int64_t figure) { return phase.end_ns() <= events_from_ns ? Json() : Json(figure); };
  return {{"phase_id", phase.phase_id},
          {"name", phase.name},
          {"proc_id", known(phase.proc_id, 0)},
          {"start_ns", phase.ts_ns},
          {"end_ns", phase.end_ns()},
          {"error_ns", phase.error_ns},
          {"calls", of_calls(phase.calls)},
          {"bytes_read", of_calls(phase.bytes_read)},
          {"bytes_written", of_calls(phase.bytes_written)},
          {"time_ns", of_calls(phase.io_ns)},
          {"wait_ns", known(phase.wait_ns, -1)},
          {"compute_ns", known(phase.compute_ns, -1)}};
}

Json collective_json(const CollectiveSummary& of) {
  return {
      {"communicator", of.communicator.empty() ? Json() : Json(of.communicator)},
      {"operation", of.operation},
      {"count", of.count},
      {"bytes", of.bytes},
      {"time_ns", of.time_ns},
      {"max_ns", of.max_ns},
      {"ranks", known(of.ranks, -1)},
      {"compared", of.compared},
      {"start_skew_ns",
       {{"p50", known(of.skew_p50_ns, -1)}, {"p99", known(of.skew_p99_ns, -1)}, {"max", known(of.skew_max_ns, -1)}}},
      {"last_proc_id", known(of.last_proc_id, 0)},
      {"last_times", of.last_times}};
}

Json gpu_idle_json(const GpuIdleSummary& idle) {
  Json out = row_json(idle);
  out.erase("file_id");
  return out;
}

Json python_json(const PythonSummary& of) {
  return {{"role", of.role},
          {"processes", of.processes},
          {"function", of.function.empty() ? Json() : Json(of.function)},
          {"source", of.source.empty() ? Json() : Json(of.source)},
          {"line", known(of.line, 0)},
          {"looks", of.looks},
          {"running", of.running},
          {"time_ns", of.time_ns},
          {"running_ns", of.running_ns},
          {"waiting", of.waiting},
          {"driver", of.is_driver != 0}};
}

Json gpu_json(const GpuSummary& gpu) {
  const auto share_of = [](int64_t ppm) { return ppm < 0 ? Json() : Json(double(ppm) / 1e6); };
  return {{"gpu_id", gpu.gpu_id},
          {"kind", gpu.kind},
          {"name", gpu.name},
          {"uuid", gpu.uuid},
          {"nvml_index", known(gpu.index, -1)},
          {"memory_bytes", known(gpu.memory_bytes, -1)},
          {"looks", gpu.looks},
          {"observed_ns", gpu.observed_ns},
          {"busy", share_of(gpu.busy_ppm)},
          {"memory_busy", share_of(gpu.memory_busy_ppm)},
          {"sm_active", share_of(gpu.sm_active_ppm)},
          {"tensor", share_of(gpu.tensor_ppm)},
          {"dram", share_of(gpu.dram_ppm)},
          {"memory_peak_bytes", known(gpu.fb_peak_bytes, -1)},
          {"power_mean_mw", known(gpu.power_mean_mw, -1)},
          {"power_peak_mw", known(gpu.power_peak_mw, -1)},
          {"energy_mj", known(gpu.energy_mj, -1)},
          {"temperature_peak_c", known(gpu.temperature_peak_c, -1)},
          {"throttled_ns", known(gpu.throttled_ns, -1)},
          {"pcie_rx_bytes", known(gpu.pcie_rx_bytes, -1)},
          {"pcie_tx_bytes", known(gpu.pcie_tx_bytes, -1)},
          {"nvlink_rx_bytes", known(gpu.nvlink_rx_bytes, -1)},
          {"nvlink_tx_bytes", known(gpu.nvlink_tx_bytes, -1)}};
}

Json machine_json(const MachineUse& use) {
  return {{"what", use.what},
          {"name", use.name},
          {"observed_ns", use.observed_ns},
          {"processors", known(use.processors, -1)},
          {"busy_ns", known(use.busy_ns, -1)},
          {"iowait_ns", known(use.iowait_ns, -1)},
          {"steal_ns", known(use.steal_ns, -1)},
          {"in_bytes", known(use.in_bytes, -1)},
          {"out_bytes", known(use.out_bytes, -1)},
          {"peak_bytes", known(use.peak_bytes, -1)},
          {"total_bytes", known(use.total_bytes, -1)}};
}

Json loss_json(const model::LossRow& loss) {
  return {{"channel", loss.channel},
          {"reason", loss.reason},
          {"proc_id", known(loss.proc_id, 0)},
          {"thread_id", known(loss.thread_id, 0)},
          {"first_ns", known(loss.first_ns, 0)},
          {"last_ns", known(loss.last_ns, 0)},
          {"count", loss.count},
          {"unit", loss.unit},
          {"cpu", known(loss.cpu, -1)},
          {"kind", loss.kind.empty() ? Json() : Json(loss.kind)}};
}

Json coverage_json(const model::CoverageRow& row) {
  return {{"proc_id", known(row.proc_id, 0)}, {"subject", row.subject},          {"detail", row.detail},
          {"seen", known(row.seen, -1)},      {"kernel", known(row.kernel, -1)}, {"level", row.level}};
}

Json cost_json(const CostEstimate& cost) {
  const auto line = [](const CostLine& of) {
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

// For the rows of `call` only. null: unknown.
Json calls_cost_ns(const std::optional<CostEstimate>& cost) {
  if (!cost) return {};
  double sum = 0;
  for (const CostLine& line : cost->lines) sum += line.is_call ? line.total_ns() : 0;
  return sum;
}

Json left_out_json(const model::LeftOutRow& row) {
  return {{"proc_id", known(row.proc_id, 0)},
          {"reason", row.reason},
          {"calls", row.calls},
          {"bytes_read", row.bytes_read},
          {"bytes_written", row.bytes_written},
          {"time_ns", row.time_ns}};
}

Json tracing_json(const Summary& summary) {
  const RunFacts run = run_facts(*summary.run);
  const std::optional<CostEstimate> cost = cost_estimate(summary);
  const Json calls_cost = calls_cost_ns(cost);
  return {
      {"events", run.events.value_or(summary.calls + summary.allocations)},
      {"calls", summary.calls},
      {"allocations", summary.allocations},
      {"counted_allocations", summary.counted_allocations},
      {"alloc_min_bytes", summary.alloc_min_bytes},
      {"summary_only", run.summary_only},
      {"fold_ns", known(summary.fold_ns, 0)},
      {"folded_calls", summary.folded_calls},
      {"alloc_sample_bytes", known(summary.alloc_sample_bytes, 0)},
      {"estimated_allocations", summary.alloc_sample_bytes > 0 ? Json(summary.estimated_allocations) : Json()},
      {"estimated_bytes", summary.alloc_sample_bytes > 0 ? Json(summary.estimated_bytes) : Json()},
      {"heap_blocks_left_out", summary.heap_blocks_left_out},
      {"heap_bytes_left_out", summary.heap_bytes_left_out},
      {"mapped_bytes_left_out", summary.mapped_bytes_left_out},
      {"counted_frees", summary.counted_frees},
      {"served_calls", summary.served_calls},
      {"cost_per_call_ns", cost && summary.calls > 0 ? Json(calls_cost.get<double>() / double(summary.calls)) : Json()},
      {"calls_cost_ns", calls_cost},
      {"cost", cost ? cost_json(*cost) : Json()},
      {"collector_cpu_ns", known(run.collector_cpu_ns)}};
}

}  // namespace

nlohmann::ordered_json to_json(const Summary& summary) {
  const Totals files = summary.totals(Group::kFiles);
  Json totals = totals_json(files);
  totals["metadata_share_of_calls"] = share(files.metadata_calls, files.calls);
  const int64_t events_from_ns = run_facts(*summary.run).events_from_ns.value_or(INT64_MIN);
  const auto phase = [&](const model::PhaseRow& row) { return phase_json(row, events_from_ns); };
  Json out = {{"schema", "mlrun-summary"},
              {"schema_version", kSchemaVersion},
              {"run", run_json(summary)},
              {"complete", summary.complete()},
              {"losses", array(summary.losses, loss_json)},
              {"coverage", array(summary.coverage, coverage_json)},
              {"left_out", array(summary.left_out, left_out_json)},
              {"totals",
               {{"files", std::move(totals)},
                {"channels", totals_json(summary.totals(Group::kChannels))},
                {"other", totals_json(summary.totals(Group::kOther))},
                {"waits", totals_json(summary.totals(Group::kWaits))}}},
              {"processes", array(summary.processes, process_json)},
              {"phases", array(summary.phases, phase)},
              {"marks", rows_json(summary.marks)},
              {"collectives", array(summary.collectives, collective_json)},
              {"gpus", array(summary.gpus, gpu_json)},
              {"machine", array(summary.machine, machine_json)},
              {"gpu_work", gpu_work_json(summary)},
              {"gpu_files", rows_json(summary.gpu_files)},
              {"torch_memory", rows_json(summary.torch_memory)},
              {"gpu_idle", array(summary.gpu_idle, gpu_idle_json)},
              {"python", array(summary.python, python_json)},
              {"gpu_steps", util::json_at(*summary.run, "/gpu_steps")},
              {"files_touched", summary.files_touched},
              {"files_without_place", summary.files_without_place},
              {"files", array(summary.files, file_json)},
              {"directories_touched", summary.directories_touched},
              {"directories", array(summary.directories, directory_json)},
              {"file_trees", array(summary.trees, tree_json)},
              {"functions", array(summary.funcs, func_json)},
              {"classes", classes_json(summary.funcs)},
              {"errors", array(summary.errors,
                               [](const ErrorSummary& error) {
                                 return Json{{"func", error.name},
                                             {"errno", error.err},
                                             {"name", errno_name(error.err)},
                                             {"calls", error.calls}};
                               })},
              {"sites", rows_json(summary.sites)},
              {"access", {{"read", access_json(summary.access[0])}, {"write", access_json(summary.access[1])}}},
              {"reread", reread_json(summary.reread)},
              {"sizes", sizes_json(summary.sizes)},
              {"timeline", timeline_json(summary)},
              {"kernel_side", kernel_side_json(summary)},
              {"splits", rows_json(summary.splits)},
              {"devices", devices_json(summary)},
              {"syscalls", syscalls_json(summary)},
              {"streams", streams_json(summary)},
              {"tracing", tracing_json(summary)}};
  add_memory(*summary.run, out);
  add_answer(summary.answer, out);
  return out;
}

}  // namespace mlrun::summary
