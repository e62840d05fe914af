// SPDX-License-Identifier: Apache-2.0
// Who made the GPUs wait.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "runner/summary/text.h"
#include "runner/summary/text_table.h"

namespace mlrun::summary {
namespace {

constexpr size_t kShown = 6;

std::string who(const Summary& summary, const GpuIdleSummary& idle) {
  const auto process = std::find_if(summary.processes.begin(), summary.processes.end(),
                                    [&](const ProcessSummary& one) { return one.proc_id == idle.proc_id; });
  if (process == summary.processes.end()) return idle.label == "short" ? "gaps of less than 10 us" : "not known";
  return fmt::format("{} {}", process->role.empty() ? "process" : process->role, process->pid);
}

// The label, and of a file call the part of it that took longest.
std::string doing(const GpuIdleSummary& idle) {
  const model::CallSplit& split = idle.split;
  const std::pair<int64_t, const char*> parts[] = {{split.own_ns, "own"},       {split.runq_ns, "run queue"},
                                                   {split.vfs_ns, "VFS"},       {split.queue_ns, "block queue"},
                                                   {split.device_ns, "device"}, {split.remote_ns, "remote"},
                                                   {split.wait_ns, "waiting"}};
  const auto most = std::max_element(std::begin(parts), std::end(parts),
                                     [](const auto& a, const auto& b) { return a.first < b.first; });
  return most->first > 0 ? fmt::format("{}: {} {}", idle.label, most->second, percent_text(most->first, split.sum()))
                         : idle.label;
}

}  // namespace

std::string gpu_idle_text(const Summary& summary, const TextStyle& style) {
  int64_t all_ns = 0;
  for (const GpuIdleSummary& idle : summary.gpu_idle) all_ns += idle.time_ns;
  if (all_ns == 0) return "";
  const bool several = summary.gpu_work.size() > 1;
  TextTable table({"GPU IDLE, AND WHO MADE IT WAIT", "doing", "time", "of it"});
  for (size_t i = 0; i < summary.gpu_idle.size() && i < kShown; ++i) {
    const GpuIdleSummary& idle = summary.gpu_idle[i];
    std::string name = who(summary, idle) + (idle.path.empty() ? "" : " " + printable(idle.path));
    if (several) name = fmt::format("GPU {} {} {}", idle.gpu_id, style.glyphs.pick("←", "<-"), name);
    table.add(
        {std::move(name), doing(idle), time_text(idle.time_ns, style.glyphs), percent_text(idle.time_ns, all_ns)});
  }
  if (summary.gpu_idle.size() > kShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_idle", style.glyphs.pick("…", "..."),
                               summary.gpu_idle.size() - kShown));
  }
  return table.text(style);
}

}  // namespace mlrun::summary
