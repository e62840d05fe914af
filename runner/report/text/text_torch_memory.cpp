// SPDX-License-Identifier: Apache-2.0
// GPU memory that PyTorch's caching allocator gave to tensors.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

constexpr size_t kTorchOwnersShown = 8;

std::string whose(const Summary& summary, const summary::TorchMemorySummary& memory) {
  const summary::ProcessSummary* process = find_process(summary, memory.proc_id);
  std::string text = process_text(process);
  if (process == nullptr) return text;
  return memory.device < 0 ? text + ", allocated before the recording"
                           : fmt::format("{}, device {}", text, memory.device);
}

}  // namespace

std::string torch_memory_text(const Summary& summary, const TextStyle& style) {
  std::vector<summary::TorchMemorySummary> sorted = summary.torch_memory;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.peak_bytes > b.peak_bytes; });
  TextTable table({"TORCH MEMORY", "at once", "allocated", "times", "releases", "held at the end"});
  for (size_t i = 0; i < sorted.size() && i < kTorchOwnersShown; ++i) {
    const summary::TorchMemorySummary& memory = sorted[i];
    table.add({whose(summary, memory), util::bytes_text(memory.peak_bytes), util::bytes_text(memory.allocated_bytes),
               util::count_text(memory.allocations), util::count_text(memory.releases),
               memory.kept == 0
                   ? "-"
                   : fmt::format("{} in {}", util::bytes_text(memory.kept_bytes), util::count_text(memory.kept))});
  }
  if (sorted.size() > kTorchOwnersShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_torch_memory", style.glyphs.pick("…", "..."),
                               sorted.size() - kTorchOwnersShown));
  }
  return table.empty() ? "" : table.text(style);
}

}  // namespace mlrun::report
