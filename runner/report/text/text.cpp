// SPDX-License-Identifier: Apache-2.0
// The head, the cost, and the order of all blocks.
#include "runner/report/text/text.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/summary/tracing_cost.h"

namespace mlrun::report {
namespace {

std::string exit_text(int64_t status, const TextStyle& style) {
  if (status == 0) return style.good("exit 0");
  if (status > 128 && status < 128 + 65) return style.bad(fmt::format("exit {} (signal {})", status, status - 128));
  return style.bad(fmt::format("exit {}", status));
}

}  // namespace

std::string head_text(const Summary& summary, const std::string& trace, const TextStyle& style) {
  const model::Run& run = summary.run;
  std::string out = style.bold(
      cut_end(printable(run.command.empty() ? "(command unknown)" : run.command_text()), style.width, style.glyphs));
  std::vector<std::string> items;
  const auto add = [&](const char* name, const std::optional<int64_t>& ns) {
    if (ns) items.push_back(name + util::time_text(*ns, style.glyphs));
  };
  if (run.recovered) items.push_back(style.warning("recovered") + " (mlrun did not finish)");
  if (run.exit_status) items.push_back(exit_text(*run.exit_status, style));
  if (const std::string killed = killed_for_memory(summary); !killed.empty()) items.push_back(style.bad(killed));
  add("wall ", run.duration_ns());
  add("user ", run.user_ns);
  add("sys ", run.sys_ns);
  if (!run.placement.cpus.empty()) items.push_back("on CPU " + printable(run.placement.cpus));
  if (!run.placement.mem_node.empty()) items.push_back(policy_text(run.placement));
  if (run.clock.start.realtime_ns) items.push_back(date_text(*run.clock.start.realtime_ns));
  if (!trace.empty()) items.push_back("trace " + printable(trace));
  return out + "\n" + wrap("", 0, items, style);
}

namespace {

std::string estimate_text(const Summary& summary, const TextStyle& style) {
  const std::optional<summary::CostEstimate> cost = summary::cost_estimate(summary);
  if (!cost) return "cost unknown (mlrun bench measures it)";
  const auto total_ns = int64_t(cost->total_ns);
  std::string text = "estimated cost " + util::time_text(total_ns, style.glyphs) + " of CPU";
  const model::Run& run = summary.run;
  const int64_t cpu_ns = run.user_ns.value_or(0) + run.sys_ns.value_or(0);
  if (cpu_ns > 0) text += " = " + util::percent_text(total_ns, cpu_ns) + " of the command's";
  for (size_t i = 0; i < cost->left_out.size(); i++) {
    const bool is_last = i + 1 == cost->left_out.size();
    text += (i == 0 ? ", without " : is_last ? " and " : ", ") + cost->left_out[i];
  }
  return text;
}

}  // namespace

std::string cost_text(const Summary& summary, const TextStyle& style) {
  const model::Run& run = summary.run;
  std::vector<std::string> items;
  const int64_t events = run.total("events").value_or(summary.calls + summary.allocations);
  items.push_back(run.options.summary_only ? util::count_text(summary.calls + summary.allocations) + " events added up"
                                           : util::count_text(events) + " events recorded");
  if (run.kernel_side.records.value_or(0) > 0)
    items.push_back(util::count_text(*run.kernel_side.records) + " by the kernel side");
  items.push_back(estimate_text(summary, style));
  if (run.collector.cpu_ns)
    items.push_back("collector " + util::time_text(*run.collector.cpu_ns, style.glyphs) + " of CPU");
  if (!run.collector.medium.empty()) items.push_back("buffer in " + printable(run.collector.medium));
  return wrap(style.bold("TRACING"), 14, items, style);
}

namespace {

void put_block(std::string content, std::string& out) {
  if (!content.empty()) out += "\n" + std::move(content);
}

std::string head_block(const Summary& summary, const std::string& trace, const TextStyle& style) {
  return head_text(summary, trace, style) + completeness_text(summary, style) + rules_text(summary, style) +
         placement_text(summary, style) + memory_rungs_text(summary, style);
}

// A block whose list gets as many rows as there is room for.
struct List {
  std::string (*make)(const Summary&, const TextStyle&, size_t rows);
  size_t rows;  // least number of rows
  bool is_table = true;
};

std::string answer_with(const Summary& summary, const std::vector<List>& lists, const TextStyle& style) {
  std::string out;
  put_block(where_time_text(summary, style), out);
  bool after_table = false;
  for (const List& list : lists) {
    std::string content = list.make(summary, style, list.rows);
    // No empty line between two tables: their rows are indented.
    const bool follows = list.is_table && after_table;
    after_table = after_table || (list.is_table && !content.empty());
    if (follows) {
      out += content;
    } else {
      put_block(std::move(content), out);
    }
  }
  put_block(gpu_idle_text(summary, style), out);
  put_block(ended_text(summary, style), out);
  return out;
}

// Adds a row to each list in turn while everything fits.
std::string answer_text(const Summary& summary, size_t lines, const TextStyle& style) {
  std::vector<List> lists = {{findings_text, 1, false}, {waited_for_text, 1}, {python_text, 2}, {trees_text, 3},
                             {process_times_text, 2},   {phases_text, 3},     {steps_text, 0}};
  std::string out = answer_with(summary, lists, style);
  bool grows = true;
  while (grows) {
    grows = false;
    for (List& list : lists) {
      if (list.rows == kRowsMost) continue;
      ++list.rows;
      std::string longer = answer_with(summary, lists, style);
      if (size_t(std::count(longer.begin(), longer.end(), '\n')) > lines) {
        --list.rows;
        continue;
      }
      grows = grows || longer != out;
      out = std::move(longer);
    }
  }
  return out;
}

std::string full_text(const Summary& summary, const TextStyle& style) {
  std::string out;
  const auto block = [&](std::string content) { put_block(std::move(content), out); };
  block(where_time_text(summary, style));
  block(findings_text(summary, style));
  block(waited_for_text(summary, style));
  block(steps_text(summary, style));
  block(python_text(summary, style));
  block(trees_text(summary, style));
  block(process_times_text(summary, style));
  block(phases_text(summary, style));
  block(processes_text(summary, style));
  block(marks_text(summary, style));
  block(collectives_text(summary, style));
  block(machine_text(summary, style));
  block(gpus_text(summary, style));
  block(gpu_work_text(summary, style));
  block(gpu_memory_text(summary, style));
  block(torch_memory_text(summary, style));
  block(gpu_idle_text(summary, style));
  block(gpu_files_text(summary, style));
  block(files_text(summary, style));
  block(calls_text(summary, style));
  block(sites_text(summary, style));
  block(memory_sites_text(summary, style));
  block(splits_text(summary, style));
  block(devices_text(summary, style));
  block(syscalls_text(summary, style));
  block(access_text(summary, style) + timeline_text(summary, style) + waits_text(summary, style) +
        heap_text(summary, style) + kernel_text(summary, style) + cost_text(summary, style) +
        streams_text(summary, style));
  return out;
}

constexpr const char* kRules = "Times of calls are added up over threads. KiB, MiB, ... are powers of 1024.";
constexpr const char* kMore = "mlrun report TRACE --full shows all: calls, waits, access patterns, heap, GPUs, streams";

}  // namespace

Extent extent_at_end(const Summary& summary) {
  constexpr int64_t kAtOnceNs = 10'000'000'000;
  const model::Run& run = summary.run;
  const bool failed = run.exit_status.value_or(0) != 0 && !run.recovered;
  return failed && run.duration_ns().value_or(kAtOnceNs) < kAtOnceNs ? Extent::kShort : Extent::kAnswer;
}

std::string text(const Summary& summary, const std::string& trace, const TextStyle& style, Extent extent) {
  constexpr size_t kAllLines = std::numeric_limits<size_t>::max();
  std::string out = head_block(summary, trace, style), end;
  put_block(unseen_text(summary, style), end);
  put_block(remarks_text(summary, style), end);
  std::string last;
  switch (extent) {
    case Extent::kShort:
      last = paragraph(style.with_trace("mlrun report TRACE shows the summary"), 0, kAllLines, style);
      break;
    case Extent::kAnswer: last = paragraph(style.with_trace(kMore), 0, kAllLines, style); break;
    case Extent::kFull: last = paragraph(kRules, 0, kAllLines, style); break;
  }
  const std::string around = out + end + last;
  const auto taken = size_t(std::count(around.begin(), around.end(), '\n'));
  if (extent == Extent::kAnswer) out += answer_text(summary, kLinesMost - std::min(kLinesMost, taken), style);
  if (extent == Extent::kFull) out += full_text(summary, style);
  return out + end + style.dim(last);
}

}  // namespace mlrun::report
