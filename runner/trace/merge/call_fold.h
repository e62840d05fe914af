// SPDX-License-Identifier: Apache-2.0
// --fold: calls shorter than a bound have no row in `call`; `folded` has their sums by process, file and function.
// Failed calls, and those that create processes, always have a row. The summary includes all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class CallFold {
 public:
  // 0: folds nothing.
  explicit CallFold(int64_t shorter_than_ns) : shorter_than_ns_(shorter_than_ns) {}

  // Removes the short calls from slice_rows.order and passes them to `join` (nullptr without a kernel side). Requires:
  // the slice's other consumers have seen them; slices in order of time.
  void apply(SliceRows& slice_rows, CallJoin* join = nullptr);

  // Rows of `folded`, in order of process, file and function.
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
  util::FlatMap<Sum> sums_;
};

}  // namespace mlrun::trace
