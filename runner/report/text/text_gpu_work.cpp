// SPDX-License-Identifier: Apache-2.0
// GPU work, from CUPTI.
#include <cstring>
#include <set>
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using util::bytes_text;
using util::count_text;
using util::time_text;
constexpr size_t kKernelsShown = 5, kMarksShown = 8, kHostsShown = 3;

// Work launched in ranges (marks) of the program.
std::string gpu_marks_text(const Summary& summary, const TextStyle& style) {
  TextTable table({"GPU BY RANGE", "domain", "kernels", "busy", "copies", "copied", "idle before"});
  for (size_t i = 0; i < summary.gpu_marks.size() && i < kMarksShown; ++i) {
    const summary::GpuMarkSummary& mark = summary.gpu_marks[i];
    std::string name = printable(mark.name);
    if (summary.gpu_work.size() > 1) name += fmt::format(", GPU {}", gpu_number_text(summary, mark.gpu_id));
    table.add({name, printable(mark.domain), count_text(mark.kernels), time_text(mark.busy_ns, style.glyphs),
               count_text(mark.copies), bytes_text(mark.copied_bytes), time_text(mark.idle_ns, style.glyphs)});
  }
  if (table.empty()) return "";
  if (summary.gpu_marks.size() > kMarksShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_mark", style.glyphs.pick("…", "..."),
                               summary.gpu_marks.size() - kMarksShown));
  }
  table.add_note("including nested ranges; idle before: gaps of 10 us and more that ended with such work");
  return "\n" + table.text(style);
}

// Adds notes on which NUMA nodes the host buffers of copies were; none if the trace has no such data.
void add_host_buffers(TextTable& table, const Summary& summary, const TextStyle& style) {
  int64_t bytes = 0, known = 0, misplaced = 0, misplaced_ns = 0, judged = 0;
  std::set<int32_t> gpu_nodes;  // of GPUs with misplaced buffers
  int32_t error = 0;
  for (const summary::GpuHostSummary& row : summary.gpu_hosts) {
    util::add_to(bytes, row.addressed_bytes);
    util::add_to(known, row.known_bytes);
    util::add_to(judged, row.gpu_node >= 0 ? row.known_bytes : 0);
    util::add_to(misplaced, row.misplaced_bytes);
    util::add_to(misplaced_ns, row.misplaced_ns);
    if (row.misplaced_bytes > 0) gpu_nodes.insert(row.gpu_node);
    if (row.error != 0) error = row.error;
  }
  if (bytes == 0) return;
  if (known == 0) {
    table.add_note(fmt::format("host buffers of copies: the kernel does not report their nodes{}",
                               error != 0 ? fmt::format(" ({})", std::strerror(error)) : ""));
  } else if (judged == 0) {
    table.add_note("host buffers of copies: no node with memory is known to be next to the GPU");
  } else if (misplaced == 0) {
    table.add_note(fmt::format("host buffers of copies: {} on the GPU's node", bytes_text(judged)));
  } else {
    table.add_note(fmt::format("host buffers of copies: {} of {} on another node than the GPU's; copying them took {}",
                               bytes_text(misplaced), bytes_text(judged), time_text(misplaced_ns, style.glyphs)));
  }
  for (size_t i = 0; i < summary.gpu_hosts.size() && i < kHostsShown; ++i) {
    const summary::GpuHostSummary& row = summary.gpu_hosts[i];
    if (row.misplaced_bytes == 0) break;
    table.add_note(fmt::format("  {} {}, {}: allocated by {}", bytes_text(row.misplaced_bytes), row.memory,
                               time_text(row.misplaced_ns, style.glyphs),
                               row.allocated_by.empty() ? "unknown code" : printable(row.allocated_by)));
  }
  if (misplaced == 0) return;
  if (gpu_nodes.size() == 1) {
    table.add_note(fmt::format("  --mem-node {0} puts all memory there, --place 'size >= 64K -> node {0}' large blocks",
                               *gpu_nodes.begin()));
  } else {
    table.add_note(
        fmt::format("  their GPUs are next to nodes {}: run a process for each of these nodes, with its GPUs "
                    "and its own --mem-node",
                    fmt::join(gpu_nodes, ", ")));
  }
}

// The name of a device; if there are several, its number first, since they may have the same name.
std::string device_text(const Summary& summary, const summary::GpuWorkSummary& gpu) {
  if (summary.gpu_work.size() < 2) return printable(gpu.name);
  return fmt::format("{} {}", gpu_number_text(summary, gpu.gpu_id), printable(gpu.name));
}
}  // namespace

std::string gpu_work_text(const Summary& summary, const TextStyle& style) {
  if (summary.gpu_work.empty()) return "";
  const int64_t wall_ns = summary.run.duration_ns().value_or(0);
  TextTable devices({"GPU WORK", "busy", "of the run", "kernels", "time", "copies", "in", "out", "memsets"});
  for (const summary::GpuWorkSummary& gpu : summary.gpu_work) {
    devices.add({device_text(summary, gpu), time_text(gpu.busy_ns, style.glyphs),
                 wall_ns > 0 ? util::percent_text(gpu.busy_ns, wall_ns) : "-", count_text(gpu.kernels),
                 time_text(gpu.kernel_ns, style.glyphs), count_text(gpu.copies), bytes_text(gpu.bytes_in),
                 bytes_text(gpu.bytes_out), count_text(gpu.memsets)});
  }
  for (const summary::GpuWorkSummary& gpu : summary.gpu_work) {
    if (gpu.graphs == 0) continue;
    devices.add_note(fmt::format("{}: {} launches of graphs as a whole took {}; their kernels are not listed",
                                 device_text(summary, gpu), count_text(gpu.graphs),
                                 time_text(gpu.graph_ns, style.glyphs)));
  }
  add_host_buffers(devices, summary, style);
  const model::Run& run = summary.run;
  if (run.folded_nodes != 0) {
    devices.add_note(
        fmt::format("{} nodes of graphs came faster than {} a second: recorded by launch (--cupti-graph-nodes)",
                    count_text(run.folded_nodes), count_text(run.options.graph_nodes_per_s.value_or(0))));
  }
  const summary::GpuCallSummary& calls = summary.gpu_calls;
  devices.add_note(fmt::format("{} calls of CUDA took {}, of {} synchronisations {}", count_text(calls.calls),
                               time_text(calls.time_ns, style.glyphs), count_text(calls.syncs),
                               time_text(calls.sync_ns, style.glyphs)));
  TextTable kernels({"KERNELS", "count", "time", "longest"});
  for (size_t i = 0; i < summary.gpu_kernels.size() && i < kKernelsShown; ++i) {
    const summary::GpuKernelSummary& kernel = summary.gpu_kernels[i];
    kernels.add({printable(kernel.name), count_text(kernel.count), time_text(kernel.time_ns, style.glyphs),
                 time_text(kernel.max_ns, style.glyphs)});
  }
  if (summary.gpu_kernels.size() > kKernelsShown) {
    kernels.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_kernel", style.glyphs.pick("…", "..."),
                                 summary.gpu_kernels.size() - kKernelsShown));
  }
  return devices.text(style) + (kernels.empty() ? "" : "\n" + kernels.text(style)) + gpu_marks_text(summary, style);
}

}  // namespace mlrun::report
