// SPDX-License-Identifier: Apache-2.0
// Assigns bio fragments, remote requests and kernel file operations to calls: the call that the thread was in when it
// queued the bio, began the request, or was in the middle of the operation. Fragments, requests and operations are added
// first, in the order of the kernel side's spool; then sort(); then the calls, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

class RecordCalls {
 public:
  // Write-back by kernel threads belongs to no call. Beyond a few million fragments, further ones get no call.
  void add(const mlrun_bio_fragment& fragment);
  // Uses the operation's middle: the clocks of the kernel side and of the calls may differ by a microsecond, and a call
  // is hardly longer than its operation.
  void add(const mlrun_file_op& operation);
  // Uses the time a microsecond after the request's begin, or its end if that is earlier: a request may outlive its call.
  void add(const mlrun_remote& request);
  // Requires: all fragments, requests and operations were added.
  void sort();

  // Thread-safe. kUnlisted: the call has no row of its own.
  static constexpr int64_t kUnlisted = -1;
  void call(const model::CallRow& row, int64_t call_id);

  // Id of the call; 0: no call, or a call without a row. `number` counts the items from 0, in the order of add().
  [[nodiscard]] int64_t call_of(size_t number) const {
    return number < calls_.size() ? std::max<int64_t>(calls_[number], 0) : 0;
  }
  // Whether the item belongs to no recorded call. False also for items beyond the limit, whose call is unknown.
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
