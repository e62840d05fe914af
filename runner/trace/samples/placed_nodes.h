// SPDX-License-Identifier: Apache-2.0
// The NUMA node of blocks that a rule of --place has placed, if samples of the process's pages of this rule agree on it.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::trace {

class PlacedNodes {
 public:
  PlacedNodes() = default;
  explicit PlacedNodes(const model::Placement& placement);

  // Node of the block at `address`; -1: no rule placed it, or less than 95 % of the rule's sampled pages are on one node.
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
