// SPDX-License-Identifier: Apache-2.0
// Assigns bio fragments, remote requests and kernel file operations to calls: the call that the thread was in when it
// queued the bio, began the request, or was in the middle of the operation. These are added first, in the order of the
// kernel side's spool; then the calls, in any order.
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
  // Write-back by kernel threads belongs to no call. Beyond a few million fragments the rest gets no call.
  void add(const mlrun_block_part& part);
  // Uses its middle: the clocks may differ by a microsecond, and calls are hardly longer than their operations.
  void add(const mlrun_file_op& operation);
  // Uses a microsecond after its beginning, if it took that long: a request may outlive its call.
  void add(const mlrun_remote& request);
  // Requires: all were added.
  void sort();

  // Thread-safe. kUnlisted: the call has no row of its own.
  static constexpr int64_t kUnlisted = -1;
  void call(const model::CallRow& row, int64_t call_id);

  // 0: none, or a call without a row. `number` counts from 0, in the order of add().
  [[nodiscard]] int64_t call_of(size_t number) const {
    return number < calls_.size() ? std::max<int64_t>(calls_[number], 0) : 0;
  }
  // Whether it belongs to no recorded call. False also if that is unknown.
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
