// SPDX-License-Identifier: Apache-2.0
// Which call a block part, a remote request or a file operation of the kernel belongs to: the one that its thread was
// in when it queued the bio or began the request, or in the middle of the operation. Those come first, in the order of
// the kernel side's spool; then the calls pass by, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

class PartCalls {
 public:
  // Parts that kernel threads wrote back belong to no call. Beyond a few million parts the rest stays without one.
  void add(const mlrun_block_part& part);
  // Its middle: the two clocks may be a microsecond apart, and calls are hardly longer than their operations.
  void add(const mlrun_file_op& operation);
  // A microsecond after its beginning, if it took so long: a request may outlive its call.
  void add(const mlrun_remote& request);
  // Requires: all were added.
  void sort();

  // From several threads at once. kUnlisted: the call has no row of its own.
  static constexpr int64_t kUnlisted = -1;
  void call(const model::CallRow& row, int64_t call_id);

  // 0: none, or one without a row. `number` counts from 0, in the order of add().
  [[nodiscard]] int64_t call_of(size_t number) const {
    return number < calls_.size() ? std::max<int64_t>(calls_[number], 0) : 0;
  }
  // It belongs to no recorded call. False also for those of which that is not known.
  [[nodiscard]] bool is_outside(size_t number) const { return number < calls_.size() && calls_[number] == 0; }

 private:
  void add(uint32_t tid, uint64_t ns);
  struct Queued {
    int64_t ns;
    uint32_t number;
  };
  std::unordered_map<int32_t, std::vector<Queued>> by_thread_;
  std::vector<int64_t> calls_;
};

}  // namespace mlrun::trace
