// SPDX-License-Identifier: Apache-2.0
// The NUMA node of blocks that a rule of --place has placed, if samples of the process's pages of this rule agree on it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::trace {

class PlacedNodes {
 public:
  PlacedNodes() = default;
  explicit PlacedNodes(const model::Placement& placement);

  // Node of the block at `address`; -1: no rule placed it, less than 95 % of the rule's sampled pages are on one node, or these are on different
  // nodes before and after an exec.
  [[nodiscard]] int64_t node_of(int32_t pid, uint64_t address) const {
    return heaps_.empty() ? -1 : find(pid, address);
  }

 private:
  struct Heap {
    uint64_t start = 0, end = 0;
    int64_t node = 0;
  };
  [[nodiscard]] int64_t find(int32_t pid, uint64_t address) const;

  std::unordered_map<int64_t, std::vector<Heap>> heaps_;  // by pid; several of one rule after an exec
};

}  // namespace mlrun::trace
