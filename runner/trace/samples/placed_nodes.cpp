// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/placed_nodes.h"

#include "runner/events/placed_mappings.h"

namespace mlrun::trace {

namespace {

constexpr double kAgree = 0.95;

// The node that has at least kAgree of the rule's sampled pages in the process; -1: none has.
int64_t common_node(const model::Placement::Process& process, size_t rule) {
  int64_t all = 0, most = 0, node = -1;
  for (const auto& pages : process.pages) {
    if (pages.rule != static_cast<int64_t>(rule)) continue;
    all += pages.sampled;
    if (pages.sampled <= most) continue;
    most = pages.sampled;
    node = pages.node;
  }
  return static_cast<double>(most) >= kAgree * static_cast<double>(all) ? node : -1;
}

}  // namespace

PlacedNodes::PlacedNodes(const model::Placement& placement) {
  const size_t rules = placement.rules.size();
  if (rules == 0 || !placement.processes) return;
  for (const auto& process : *placement.processes) {
    if (process.window < 0 || process.window_bytes < 0) continue;
    const auto window = static_cast<uint64_t>(process.window), all = static_cast<uint64_t>(process.window_bytes);
    const uint64_t each = all / MLRUN_PLACE_SEGMENT / rules * MLRUN_PLACE_SEGMENT;
    for (size_t rule = 0; rule < rules && each != 0; rule++) {
      heaps_[process.pid].push_back({window + rule * each, window + (rule + 1) * each, common_node(process, rule)});
    }
  }
}

int64_t PlacedNodes::find(int32_t pid, uint64_t address) const {
  const auto process = heaps_.find(pid);
  if (process == heaps_.end()) return -1;
  const Heap* found = nullptr;
  for (const Heap& heap : process->second) {
    if (address < heap.start || address >= heap.end) continue;
    if (found != nullptr && heap.node != found->node) return -1;
    found = &heap;
  }
  return found == nullptr ? -1 : found->node;
}

}  // namespace mlrun::trace
