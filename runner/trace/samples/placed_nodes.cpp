// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/placed_nodes.h"

#include <nlohmann/json.hpp>

#include "runner/events/placed_mappings.h"
#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

constexpr double kAgree = 0.95;

// The node that has at least kAgree of the rule's sampled pages in the process; -1: none has.
int64_t common_node(const nlohmann::json& process, size_t rule) {
  int64_t all = 0, most = 0, node = -1;
  for (const nlohmann::json& pages : util::list_at(process, "/pages")) {
    if (util::integer_at(pages, "/rule", -1) != static_cast<int64_t>(rule)) continue;
    const int64_t sampled = util::integer_at(pages, "/sampled");
    all += sampled;
    if (sampled <= most) continue;
    most = sampled;
    node = util::integer_at(pages, "/node", -1);
  }
  return static_cast<double>(most) >= kAgree * static_cast<double>(all) ? node : -1;
}

}  // namespace

PlacedNodes::PlacedNodes(const nlohmann::json& processes, size_t rules) {
  if (rules == 0) return;
  for (const nlohmann::json& process : processes) {
    const uint64_t window = util::count_at(process, "/window"), all = util::count_at(process, "/window_bytes");
    const uint64_t each = all / MLRUN_PLACE_SEGMENT / rules * MLRUN_PLACE_SEGMENT;
    for (size_t rule = 0; rule < rules && each != 0; rule++) {
      const int64_t node = common_node(process, rule);
      if (node >= 0)
        heaps_.push_back({util::integer_at(process, "/pid"), window + rule * each, window + (rule + 1) * each, node});
    }
  }
}

int64_t PlacedNodes::find(int32_t pid, uint64_t address) const {
  for (const Heap& heap : heaps_) {
    if (heap.pid == pid && address >= heap.start && address < heap.end) return heap.node;
  }
  return -1;
}

}  // namespace mlrun::trace
