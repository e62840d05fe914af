// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tracing_cost.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runner/decode/func_names.h"

namespace mlrun::summary {
namespace {

const char* process_cost_class(std::string_view func) {
  if (func == "fork" || func == "vfork") return "fork";
  if (func == "execve" || func == "posix_spawn") return "exec";
  return func == "pthread_create" ? "thread" : "call";
}

const char* cost_class_of(uint16_t func) {
  const decode::FuncInfo* info = decode::find_func(func);
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

// Names of work that the estimate lacks: options other than the defaults, whose cost is not measured; and waits too short to be recorded, which are
// not counted.
std::vector<std::string> left_out(const model::Run& run) {
  std::vector<std::string> names;
  const model::RecordingOptions& options = run.options;
  if (run.has_stream("files")) names.emplace_back("short waits");
  if (options.stack_depth > 0) names.emplace_back("stacks");
  if (options.alloc_times) names.emplace_back("durations of allocations");
  if (!options.include.empty() || !options.exclude.empty()) names.emplace_back("excluded paths");
  if (run.kernel_side.has_recorded()) names.emplace_back("the kernel side");
  if (run.has_stream("gpu")) names.emplace_back("GPU work");
  return names;
}

}  // namespace

std::optional<CostEstimate> cost_estimate(const Summary& summary) {
  const model::Run& run = summary.run;
  const auto& figures = run.cost.cost_per_call_ns;
  if (!figures) return {};
  CostEstimate estimate;
  estimate.source = run.cost.source;
  estimate.measured_realtime_ns = run.cost.measured_realtime_ns;
  for (CostLine& line : counts(summary)) {
    if (line.calls == 0) continue;
    const auto figure = figures->find(line.cost_class);
    if (figure == figures->end()) {
      estimate.calls_without_cost += line.calls;
      continue;
    }
    line.per_call_ns = figure->second;
    estimate.total_ns += line.total_ns();
    estimate.lines.push_back(std::move(line));
  }
  estimate.left_out = left_out(run);
  const int64_t cpu_ns = run.user_ns.value_or(0) + run.sys_ns.value_or(0);
  if (cpu_ns > 0) estimate.share_of_cpu = estimate.total_ns / double(cpu_ns);
  return estimate;
}

}  // namespace mlrun::summary
