// SPDX-License-Identifier: Apache-2.0
// --fold: calls shorter than a bound have no row of their own in `call`; they are sums by process, file and function in
// `folded`. Failed calls, and those that make processes, always have their row. The summary sees all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/rows/partition.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class CallFold {
 public:
  // 0: nothing is folded.
  explicit CallFold(int64_t shorter_than_ns) : shorter_than_ns_(shorter_than_ns) {}

  // Takes the short calls out of partition.order. To be called when everybody else has seen them; partitions come one
  // after another. `join` is told of them; nullptr without a kernel side.
  void apply(Partition& partition, CallJoin* join = nullptr);

  // By process, file and function.
  [[nodiscard]] std::vector<model::FoldedRow> finish();

 private:
  struct Sum {
    int32_t proc_id = 0;
    uint16_t func = 0;
    int64_t file_id = 0, calls = 0, bytes = 0, time_ns = 0, first_ns = 0, last_ns = 0;
  };
  [[nodiscard]] bool folds(const model::CallRow& row) const;
  void add(const model::CallRow& row);

  int64_t shorter_than_ns_;
  summary::FlatMap<Sum> sums_;
};

}  // namespace mlrun::trace
