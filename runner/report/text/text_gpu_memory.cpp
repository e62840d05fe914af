// SPDX-License-Identifier: Apache-2.0
// GPU memory: allocated, and never released.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::GpuMemorySummary;
using util::bytes_text;

constexpr size_t kOwnersShown = 8;

std::string whose(const Summary& summary, const GpuMemorySummary& memory) {
  const summary::ProcessSummary* process = find_process(summary, memory.proc_id);
  std::string text = process_text(process);
  if (process == nullptr) return text;
  if (memory.context != 0) text += fmt::format(", context {}", memory.context);
  return summary.gpu_work.size() > 1 ? fmt::format("{}, GPU {}", text, gpu_number_text(summary, memory.gpu_id)) : text;
}

constexpr size_t kStacksShown = 4, kFramesShown = 6;

// Allocation sites of memory that was never released, with the innermost functions, one line each.
std::string gpu_stacks_text(const Summary& summary, const TextStyle& style) {
  TextTable table({"NEVER RELEASED, BY STACK", "memory", "blocks", "bytes", "of it late"});
  for (size_t i = 0; i < summary.gpu_stacks.size() && i < kStacksShown; ++i) {
    const summary::GpuStackSummary& stack = summary.gpu_stacks[i];
    table.add({stack.stack_id == 0 ? "stack unknown" : fmt::format("stack {}", stack.stack_id), stack.memory,
               util::count_text(stack.blocks), bytes_text(stack.bytes),
               stack.late == 0 ? "-" : bytes_text(stack.late_bytes)});
    std::string_view left = stack.frames;
    for (size_t frame = 0; frame < kFramesShown && !left.empty(); ++frame) {
      const size_t end = std::min(left.find(" < "), left.size());
      table.add_note(fmt::format("  {}", printable(left.substr(0, end))));
      left.remove_prefix(std::min(end + 3, left.size()));
    }
  }
  if (summary.gpu_stacks.size() > kStacksShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_stack", style.glyphs.pick("…", "..."),
                               summary.gpu_stacks.size() - kStacksShown));
  }
  return table.empty() ? "" : "\n" + table.text(style);
}

std::string kept_text(int64_t count, int64_t bytes) {
  return count == 0 ? "-" : fmt::format("{} in {}", bytes_text(bytes), util::count_text(count));
}

}  // namespace

std::string gpu_memory_text(const Summary& summary, const TextStyle& style) {
  std::vector<GpuMemorySummary> sorted = summary.gpu_memory;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.peak_bytes > b.peak_bytes; });
  TextTable table(
      {"GPU MEMORY", "memory", "at once", "allocated", "times", "releases", "never released", "of it late"});
  bool is_kept = false;
  GpuMemorySummary all;
  for (size_t i = 0; i < sorted.size() && i < kOwnersShown; ++i) {
    const GpuMemorySummary& memory = sorted[i];
    is_kept = is_kept || memory.kept > 0;
    table.add({whose(summary, memory), memory.memory, bytes_text(memory.peak_bytes), bytes_text(memory.allocated_bytes),
               util::count_text(memory.allocations), util::count_text(memory.releases),
               kept_text(memory.kept, memory.kept_bytes), kept_text(memory.kept_late, memory.kept_late_bytes)});
  }
  for (const GpuMemorySummary& memory : sorted) {
    util::add_to(all.with_context, memory.with_context);
    util::add_to(all.with_context_bytes, memory.with_context_bytes);
    util::add_to(all.at_exit, memory.at_exit);
    util::add_to(all.at_exit_bytes, memory.at_exit_bytes);
  }
  if (sorted.size() > kOwnersShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_gpu_memory", style.glyphs.pick("…", "..."),
                               sorted.size() - kOwnersShown));
  }
  if (is_kept) {
    table.add_note(
        "never released: held at the end of the process; late: allocated in the second half of its life, as by a leak");
  }
  if (all.with_context > 0) {
    table.add_note(fmt::format("released with their context: {}", kept_text(all.with_context, all.with_context_bytes)));
  }
  if (all.at_exit > 0) {
    table.add_note(fmt::format("never released by processes that have ended, which frees it: {}",
                               kept_text(all.at_exit, all.at_exit_bytes)));
  }
  return table.empty() ? "" : table.text(style) + gpu_stacks_text(summary, style);
}

}  // namespace mlrun::report
