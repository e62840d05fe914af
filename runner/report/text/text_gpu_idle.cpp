// SPDX-License-Identifier: Apache-2.0
// Causes of GPU idle time.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

using summary::GpuIdleSummary;

constexpr size_t kGapsShown = 6, kWorstShown = 3;

std::string who(const Summary& summary, const GpuIdleSummary& idle) {
  const summary::ProcessSummary* process = find_process(summary, idle.proc_id);
  if (process == nullptr && idle.label == "short") return "gaps of less than 10 us";
  if (process == nullptr && idle.label == "not listed") return "gaps beyond two million";
  const std::string name = process_text(process);
  const bool is_main = process == nullptr || idle.tid == 0 || idle.tid == process->pid;
  return is_main ? name : fmt::format("{} thread {}", name, idle.tid);
}

// The label; for a call on files with the longest part of its time.
std::string doing(const GpuIdleSummary& idle) {
  const model::CallSplit& split = idle.split;
  const std::pair<int64_t, const char*> parts[] = {{split.own_ns, "own"},       {split.runq_ns, "run queue"},
                                                   {split.vfs_ns, "VFS"},       {split.queue_ns, "block queue"},
                                                   {split.device_ns, "device"}, {split.remote_ns, "remote"},
                                                   {split.wait_ns, "waiting"}};
  const auto most = std::max_element(std::begin(parts), std::end(parts),
                                     [](const auto& a, const auto& b) { return a.first < b.first; });
  return most->first > 0
             ? fmt::format("{}: {} {}", idle.label, most->second, util::percent_text(most->first, split.sum()))
             : idle.label;
}

std::string blamed_text(const Summary& summary, const model::GpuSteps::Step& step) {
  if (!step.blamed) return "";
  GpuIdleSummary idle;
  idle.label = printable(step.blamed->label);
  idle.proc_id = static_cast<int32_t>(step.blamed->proc_id);
  const std::string path = printable(step.blamed->path);
  return fmt::format("{}, {}{} {}", idle.label, who(summary, idle), path.empty() ? "" : " " + path,
                     util::percent_text(step.blamed->time_ns, step.idle_ns));
}

// For each GPU the distribution of its idle time over steps, then the steps with the most.
std::string gpu_steps_text(const Summary& summary, const TextStyle& style) {
  const model::GpuSteps& steps = summary.run.gpu_steps;
  if (steps.devices.empty()) return "";
  const auto time = [&](int64_t ns) { return util::time_text(ns, style.glyphs); };
  TextTable table({"GPU IDLE PER STEP", "steps", "of their time", "median", "p99", "longest"});
  for (const model::GpuSteps::Device& gpu : steps.devices) {
    const auto gpu_id = static_cast<int32_t>(gpu.gpu_id);
    table.add({fmt::format("GPU {}", gpu_number_text(summary, gpu_id)), util::count_text(gpu.steps),
               util::percent_text(gpu.idle_ns, gpu.time_ns), time(gpu.idle_p50_ns), time(gpu.idle_p99_ns),
               time(gpu.idle_max_ns)});
  }
  for (size_t i = 0; i < steps.worst.size() && i < kWorstShown; ++i) {
    const model::GpuSteps::Step& step = steps.worst[i];
    table.add_note(fmt::format("{} (no. {}): {} of {}; {}", printable(step.name), step.number, time(step.idle_ns),
                               time(step.duration_ns), blamed_text(summary, step)));
  }
  return "\n" + table.text(style);
}

}  // namespace

std::string gpu_idle_text(const Summary& summary, const TextStyle& style) {
  int64_t all_ns = 0;
  for (const GpuIdleSummary& idle : summary.gpu_idle) all_ns += idle.time_ns;
  if (all_ns == 0) return "";
  const bool several = summary.gpu_work.size() > 1;
  TextTable table({"GPU IDLE, AND WHO MADE IT WAIT", "doing", "time", "of it"});
  for (size_t i = 0; i < summary.gpu_idle.size() && i < kGapsShown; ++i) {
    const GpuIdleSummary& idle = summary.gpu_idle[i];
    std::string name = who(summary, idle);
    for (const auto& [before, text] : {std::pair{" in ", &idle.func}, {" ", &idle.path}, {" ", &idle.python_line}}) {
      if (!text->empty()) name += before + printable(*text);
    }
    if (several)
      name = fmt::format("GPU {} {} {}", gpu_number_text(summary, idle.gpu_id), style.glyphs.pick("←", "<-"), name);
    table.add({std::move(name), doing(idle), util::time_text(idle.time_ns, style.glyphs),
               util::percent_text(idle.time_ns, all_ns)});
  }
  if (summary.gpu_idle.size() > kGapsShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_idle", style.glyphs.pick("…", "..."),
                               summary.gpu_idle.size() - kGapsShown));
  }
  table.add_note(
      fmt::format("of {} in gaps between a GPU's first operation and its last", util::time_text(all_ns, style.glyphs)));
  return table.text(style) + gpu_steps_text(summary, style);
}

}  // namespace mlrun::report
