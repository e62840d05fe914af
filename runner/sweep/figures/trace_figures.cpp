// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/figures/trace_figures.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "runner/summary/summary.h"
#include "runner/summary/tables/tables.h"
#include "runner/sweep/figures/use.h"
#include "runner/util/median.h"
#include "runner/util/time_units.h"

namespace mlrun::sweep {

namespace {

using Figures = std::map<std::string, double>;

void add_files(const summary::Summary& summary, Figures& figures) {
  const summary::Totals files = summary.totals(summary::Group::kFiles);
  figures["io_s"] = util::in_seconds(files.time_ns);
  figures["bytes_read"] = static_cast<double>(files.bytes_read);
  figures["bytes_written"] = static_cast<double>(files.bytes_written);
  if (const auto& devices = summary.run.kernel_side.own_devices) {
    double bytes = 0;
    for (const model::KernelSide::Device& device : *devices) bytes += static_cast<double>(device.read_bytes);
    figures["device_read_bytes"] = bytes;
  }
  double missing_bytes = 0;
  bool is_known = false;
  for (const summary::DirectorySummary& directory : summary.directories) {
    if (!directory.misses.known()) continue;
    is_known = true;
    missing_bytes += static_cast<double>(directory.misses.bytes());
  }
  if (is_known) figures["missing_bytes"] = missing_bytes;
}

void add_answer(const summary::Summary& summary, Figures& figures) {
  const summary::Answer& answer = summary.answer;
  if (answer.wall_ns <= 0) return;
  figures["startup_s"] = util::in_seconds(answer.startup_ns);
  if (answer.without_batch_ns >= 0) figures["without_batch_s"] = util::in_seconds(answer.without_batch_ns);
  for (const char* name : summary::kActivityNames) figures[fmt::format("activity_{}_s", name)] = 0;
  for (const summary::TimeShare& share : answer.time) {
    figures[fmt::format("activity_{}_s", summary::kActivityNames[size_t(share.activity)])] +=
        util::in_seconds(share.ns);
  }
  std::vector<double> steps;
  for (const summary::StepRow& step : answer.step_rows) steps.push_back(util::in_seconds(step.dur_ns));
  if (!steps.empty()) figures["step_s"] = util::median(std::move(steps));
}

// Epochs by MLLOG's phases, or by marks with the same names.
void add_epochs(const summary::Summary& summary, Figures& figures) {
  std::vector<const model::PhaseRow*> epochs;
  for (const model::PhaseRow& phase : summary.phases) {
    if (phase.name == "epoch" || phase.name.starts_with("epoch ")) epochs.push_back(&phase);
  }
  if (epochs.empty()) return;
  std::sort(epochs.begin(), epochs.end(), [](const auto* a, const auto* b) { return a->ts_ns < b->ts_ns; });
  figures["epoch_1_s"] = util::in_seconds(epochs.front()->dur_ns);
  std::vector<double> later;
  for (size_t i = 1; i < epochs.size(); ++i) {
    // The same name again is another rank's epoch 1.
    if (epochs[i]->name != epochs.front()->name) later.push_back(util::in_seconds(epochs[i]->dur_ns));
  }
  if (!later.empty()) figures["later_epochs_s"] = util::median(std::move(later));
}

void add_memory_and_gpus(const summary::Summary& summary, Figures& figures) {
  int64_t peak_bytes = 0;
  for (const summary::ProcessSummary& process : summary.processes) {
    peak_bytes = std::max(peak_bytes, process.heap_peak.bytes());
  }
  if (summary.allocations > 0 || summary.counted_allocations > 0) {
    figures["heap_peak_bytes"] = static_cast<double>(peak_bytes);
  }
  int64_t busy_ns = 0;
  for (const summary::GpuWorkSummary& gpu : summary.gpu_work) busy_ns += gpu.busy_ns;
  if (!summary.gpu_work.empty()) figures["gpu_busy_s"] = util::in_seconds(busy_ns);
}

}  // namespace

Result<Figures> figures_of_trace(const std::string& trace_folder) {
  const auto use = use_of_trace(trace_folder);
  if (!use) return tl::make_unexpected(use.error());
  const auto summary = summary::read_tables(trace_folder);
  if (!summary) return tl::make_unexpected(summary.error());
  Figures figures;
  add_use(*use, figures);
  add_files(*summary, figures);
  add_answer(*summary, figures);
  add_epochs(*summary, figures);
  add_memory_and_gpus(*summary, figures);
  return figures;
}

}  // namespace mlrun::sweep
