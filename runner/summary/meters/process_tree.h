// SPDX-License-Identifier: Apache-2.0
// The process tree.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/model/rows.h"

namespace mlrun::summary {

class ProcessTree {
 public:
  explicit ProcessTree(const std::vector<model::ProcessRow>& processes);

  // Whether proc_id is `ancestor` or one of its descendants.
  [[nodiscard]] bool within(int32_t proc_id, int32_t ancestor) const;
  // The process's parent; 0: it has none in the trace.
  [[nodiscard]] int32_t parent(int32_t proc_id) const;
  // Every process once: parents before their children, siblings in order of start.
  [[nodiscard]] const std::vector<int32_t>& order() const { return order_; }

 private:
  void put(int32_t root);

  std::unordered_map<int32_t, int32_t> parents_;
  std::unordered_map<int32_t, std::vector<int32_t>> children_;  // by start
  std::vector<int32_t> order_;
};

}  // namespace mlrun::summary
