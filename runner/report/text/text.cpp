// SPDX-License-Identifier: Apache-2.0
// The head, the cost, and the order of all blocks.
#include "runner/report/text/text.h"

#include <limits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/report/run_facts.h"
#include "runner/summary/tracing_cost.h"

namespace mlrun::summary {
namespace {

std::string exit_text(int64_t status, const TextStyle& style) {
  if (status == 0) return style.good("exit 0");
  if (status > 128 && status < 128 + 65) return style.bad(fmt::format("exit {} (signal {})", status, status - 128));
  return style.bad(fmt::format("exit {}", status));
}

}  // namespace

std::string head_text(const Summary& summary, const std::string& trace, const TextStyle& style) {
  const RunFacts run = run_facts(*summary.run);
  std::string out = style.bold(
      cut_end(printable(run.command.empty() ? "(command not known)" : run.command), style.width, style.glyphs));
  std::vector<std::string> items;
  const auto add = [&](const char* name, const std::optional<int64_t>& ns) {
    if (ns) items.push_back(name + time_text(*ns, style.glyphs));
  };
  if (run.recovered) items.push_back(style.warning("recovered") + " (mlrun did not finish)");
  if (run.exit_status) items.push_back(exit_text(*run.exit_status, style));
  add("wall ", run.wall_ns);
  add("user ", run.user_ns);
  add("sys ", run.sys_ns);
  if (run.start_realtime_ns) items.push_back(date_text(*run.start_realtime_ns));
  if (!trace.empty()) items.push_back("trace " + printable(trace));
  return out + "\n" + wrap("", 0, items, style);
}

namespace {

std::string estimate_text(const Summary& summary, const TextStyle& style) {
  const std::optional<CostEstimate> cost = cost_estimate(summary);
  if (!cost) {
    const bool cannot_store = summary.run->contains("can_store_cost") && summary.run->at("can_store_cost") == false;
    return !cannot_store ? "cost not known (mlrun bench measures it)"
                         : "cost not known (neither XDG_CACHE_HOME nor HOME names a folder of this user's to keep a "
                           "measurement in)";
  }
  const auto total_ns = int64_t(cost->total_ns);
  std::string text = "estimated cost " + time_text(total_ns, style.glyphs) + " of CPU";
  const RunFacts run = run_facts(*summary.run);
  const int64_t cpu_ns = run.user_ns.value_or(0) + run.sys_ns.value_or(0);
  if (cpu_ns > 0) text += " = " + percent_text(total_ns, cpu_ns) + " of the command's";
  for (size_t i = 0; i < cost->left_out.size(); i++) {
    const bool is_last = i + 1 == cost->left_out.size();
    text += (i == 0 ? ", without " : is_last ? " and " : ", ") + cost->left_out[i];
  }
  return text;
}

}  // namespace

std::string cost_text(const Summary& summary, const TextStyle& style) {
  const RunFacts run = run_facts(*summary.run);
  std::vector<std::string> items;
  const int64_t events = run.events.value_or(summary.calls + summary.allocations);
  items.push_back(run.summary_only ? count_text(summary.calls + summary.allocations) + " events added up"
                                   : count_text(events) + " events recorded");
  if (run.kernel_records.value_or(0) > 0) items.push_back(count_text(*run.kernel_records) + " by the kernel side");
  items.push_back(estimate_text(summary, style));
  if (run.collector_cpu_ns) items.push_back("collector " + time_text(*run.collector_cpu_ns, style.glyphs) + " of CPU");
  if (!run.medium.empty()) items.push_back("buffer in " + printable(run.medium));
  return wrap(style.bold("TRACING"), 14, items, style);
}

std::string text(const Summary& summary, const std::string& trace, const TextStyle& style) {
  std::string out = head_text(summary, trace, style) + completeness_text(summary, style) + rules_text(summary, style);
  const auto block = [&](std::string content) {
    if (!content.empty()) out += "\n" + std::move(content);
  };
  block(processes_text(summary, style));
  block(phases_text(summary, style));
  block(marks_text(summary, style));
  block(collectives_text(summary, style));
  block(gpus_text(summary, style));
  block(gpu_work_text(summary, style));
  block(gpu_memory_text(summary, style));
  block(torch_memory_text(summary, style));
  block(gpu_idle_text(summary, style));
  block(gpu_files_text(summary, style));
  block(python_text(summary, style));
  block(files_text(summary, style));
  block(calls_text(summary, style));
  block(sites_text(summary, style));
  block(splits_text(summary, style));
  block(devices_text(summary, style));
  block(syscalls_text(summary, style));
  block(access_text(summary, style) + timeline_text(summary, style) + waits_text(summary, style) +
        heap_text(summary, style) + kernel_text(summary, style) + cost_text(summary, style) +
        streams_text(summary, style));
  block(remarks_text(summary, style));
  constexpr const char* kRules = "Times of calls are added up over threads. KiB, MiB, ... are powers of 1024.";
  out += style.dim(paragraph(kRules, 0, std::numeric_limits<size_t>::max(), style));
  return out;
}

}  // namespace mlrun::summary
