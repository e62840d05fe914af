// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tracing_cost.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/decode/func_names.h"
#include "runner/report/run_facts.h"

namespace mlrun::summary {
namespace {

using nlohmann::json;

const char* process_cost_class(std::string_view func) {
  if (func == "fork" || func == "vfork") return "fork";
  if (func == "execve" || func == "posix_spawn") return "exec";
  return func == "pthread_create" ? "thread" : "call";
}

const char* cost_class_of(uint16_t func) {
  const events::FuncInfo* info = events::find_func(func);
  if (!info) return "call";
  switch (info->call_class) {
    case MLRUN_CLASS_OPEN: return "open";
    case MLRUN_CLASS_META: return "path_call";
    case MLRUN_CLASS_PROCESS: return process_cost_class(info->name);
    case MLRUN_CLASS_READ:
    case MLRUN_CLASS_WRITE:
    case MLRUN_CLASS_CLOSE:
    case MLRUN_CLASS_SEEK:
    case MLRUN_CLASS_SYNC:
    case MLRUN_CLASS_MAP:
    case MLRUN_CLASS_FD:
    case MLRUN_CLASS_COPY:
    case MLRUN_CLASS_WAIT: return "call";
  }
  return "call";
}

// Calls by cost class, without costs.
std::vector<CostLine> counts(const Summary& summary) {
  std::vector<CostLine> lines = {
      {"alloc_listed", summary.allocations, 0, false},
      {"alloc_counted", summary.counted_allocations + summary.counted_frees, 0, false},
      {"stdio", std::max<int64_t>(summary.served_calls - summary.calls, 0), 0, false},
      {"mark", summary.mark_records, 0, false},
  };
  for (const char* cost_class : {"call", "path_call", "open", "fork", "exec", "thread"})
    lines.push_back({cost_class, 0, 0});
  for (const FuncSummary& func : summary.funcs) {
    const std::string cost_class = cost_class_of(func.func);
    for (CostLine& line : lines) {
      if (line.cost_class == cost_class) line.calls += func.calls;
    }
  }
  return lines;
}

bool records_stream(const json& options, const char* stream) {
  const json streams = options.value("streams", json());
  return streams.is_array() && std::find(streams.begin(), streams.end(), stream) != streams.end();
}

bool has_kernel_side(const json& run) {
  static const json::json_pointer kState("/kernel_side/state");
  return run.contains(kState) && run.at(kState) == "recorded";
}

// Recording that is in no cost class, since only the default options are measured; and waits too short to be recorded,
// which are not counted.
std::vector<std::string> left_out(const json& run) {
  std::vector<std::string> names;
  const json options = run.value("options", json::object());
  const auto has = [&](const char* key, auto is_set) {
    const auto found = options.find(key);
    return found != options.end() && is_set(*found);
  };
  const auto is_positive = [](const json& number) { return number.is_number() && number.get<double>() > 0; };
  const auto is_list = [](const json& list) { return list.is_array() && !list.empty(); };
  if (records_stream(options, "files")) names.emplace_back("short waits");
  if (has("stack_depth", is_positive)) names.emplace_back("stacks");
  if (has("alloc_times", [](const json& flag) { return flag == true; })) names.emplace_back("durations of allocations");
  if (has("include", is_list) || has("exclude", is_list)) names.emplace_back("excluded paths");
  if (has_kernel_side(run)) names.emplace_back("the kernel side");
  if (records_stream(options, "gpu")) names.emplace_back("GPU work");
  return names;
}

const json* figures_of(const json& run) {
  static const json::json_pointer kPlace("/cost/cost_per_call_ns");
  const bool there = run.contains(kPlace) && run.at(kPlace).is_object();
  return there ? &run.at(kPlace) : nullptr;
}

}  // namespace

std::optional<CostEstimate> cost_estimate(const Summary& summary) {
  const json* figures = figures_of(*summary.run);
  if (!figures) return {};
  const json& cost = summary.run->at("cost");
  CostEstimate estimate;
  if (const auto source = cost.find("source"); source != cost.end() && source->is_string())
    estimate.source = source->get<std::string>();
  if (const auto measured = cost.find("measured_realtime_ns"); measured != cost.end() && measured->is_number_integer())
    estimate.measured_realtime_ns = measured->get<int64_t>();
  for (CostLine& line : counts(summary)) {
    if (line.calls == 0) continue;
    const auto figure = figures->find(line.cost_class);
    if (figure == figures->end() || !figure->is_number()) {
      estimate.calls_without_cost += line.calls;
      continue;
    }
    line.per_call_ns = figure->get<double>();
    estimate.total_ns += line.total_ns();
    estimate.lines.push_back(std::move(line));
  }
  estimate.left_out = left_out(*summary.run);
  const RunFacts run = run_facts(*summary.run);
  const int64_t cpu_ns = run.user_ns.value_or(0) + run.sys_ns.value_or(0);
  if (cpu_ns > 0) estimate.share_of_cpu = estimate.total_ns / double(cpu_ns);
  return estimate;
}

}  // namespace mlrun::summary
