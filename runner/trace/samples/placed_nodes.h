// SPDX-License-Identifier: Apache-2.0
// The node of placed blocks, where the samples of a process's pages of that rule agree.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::trace {

class PlacedNodes {
 public:
  PlacedNodes() = default;
  // `processes`: placement.processes of session.json; `rules`: how many there are.
  PlacedNodes(const nlohmann::json& processes, size_t rules);

  // -1: no rule has placed it, or less than 95 % of the rule's sampled pages are on one node.
  [[nodiscard]] int64_t node_of(int32_t pid, uint64_t address) const {
    return heaps_.empty() ? -1 : find(pid, address);
  }

 private:
  struct Heap {
    int64_t pid = 0;
    uint64_t start = 0, end = 0;
    int64_t node = 0;
  };
  [[nodiscard]] int64_t find(int32_t pid, uint64_t address) const;

  std::vector<Heap> heaps_;
};

}  // namespace mlrun::trace
