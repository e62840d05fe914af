// SPDX-License-Identifier: Apache-2.0
// What the GPUs did, by CUPTI.
#include <string>

#include <fmt/format.h>

#include "runner/summary/run_facts.h"
#include "runner/summary/text.h"
#include "runner/summary/text_table.h"

namespace mlrun::summary {
namespace {
constexpr size_t kKernelsShown = 5;
}

std::string gpu_work_text(const Summary& summary, const TextStyle& style) {
  if (summary.gpu_work.empty()) return "";
  const int64_t wall_ns = run_facts(summary.run).wall_ns.value_or(0);
  TextTable devices({"GPU WORK", "busy", "of the run", "kernels", "time", "copies", "in", "out", "memsets"});
  for (const GpuWorkSummary& gpu : summary.gpu_work) {
    devices.add({printable(gpu.name), time_text(gpu.busy_ns, style.glyphs),
                 wall_ns > 0 ? percent_text(gpu.busy_ns, wall_ns) : "-", count_text(gpu.kernels),
                 time_text(gpu.kernel_ns, style.glyphs), count_text(gpu.copies), bytes_text(gpu.bytes_in),
                 bytes_text(gpu.bytes_out), count_text(gpu.memsets)});
  }
  for (const GpuWorkSummary& gpu : summary.gpu_work) {
    if (gpu.graphs == 0) continue;
    devices.add_note(fmt::format("{}: {} launches of graphs as a whole took {}; their kernels are not listed",
                                 printable(gpu.name), count_text(gpu.graphs), time_text(gpu.graph_ns, style.glyphs)));
  }
  const RunFacts run = run_facts(summary.run);
  if (run.folded_nodes.value_or(0) != 0) {
    devices.add_note(
        fmt::format("{} nodes of graphs came faster than {} a second: told by launch (--cupti-graph-nodes)",
                    count_text(*run.folded_nodes), count_text(run.graph_nodes_per_s.value_or(0))));
  }
  const GpuCallSummary& calls = summary.gpu_calls;
  devices.add_note(fmt::format("{} calls of CUDA took {}, of {} synchronisations {}", count_text(calls.calls),
                               time_text(calls.time_ns, style.glyphs), count_text(calls.syncs),
                               time_text(calls.sync_ns, style.glyphs)));
  TextTable kernels({"KERNELS", "count", "time", "longest"});
  for (size_t i = 0; i < summary.gpu_kernels.size() && i < kKernelsShown; ++i) {
    const GpuKernelSummary& kernel = summary.gpu_kernels[i];
    kernels.add({printable(kernel.name), count_text(kernel.count), time_text(kernel.time_ns, style.glyphs),
                 time_text(kernel.max_ns, style.glyphs)});
  }
  if (summary.gpu_kernels.size() > kKernelsShown) {
    kernels.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_kernel", style.glyphs.pick("…", "..."),
                                 summary.gpu_kernels.size() - kKernelsShown));
  }
  return devices.text(style) + (kernels.empty() ? "" : "\n" + kernels.text(style));
}

}  // namespace mlrun::summary
