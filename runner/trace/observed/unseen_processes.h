// SPDX-License-Identifier: Apache-2.0
// Processes that the kernel side recorded and the library did not: it could not be loaded (static, setuid), or they
// were too short-lived. Their file I/O has no process and no calls in the tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class UnseenProcesses {
 public:
  // Requires: info.processes has all that the library recorded.
  explicit UnseenProcesses(const model::TraceInfo& info);
  void add(const mlrun_bio_fragment& fragment);
  void add(const mlrun_file_op& operation);
  // Counts the process only if no process recorded anything: then it is the command itself. Otherwise it may be a child
  // that only waited and did no I/O.
  void add(const mlrun_wait& wait);
  // At least 1 (the command) if no process recorded anything: it may have ended before the kernel side recorded it.
  [[nodiscard]] int64_t count() const {
    return std::max(static_cast<int64_t>(unseen_.size()), int64_t{known_.empty() ? 1 : 0});
  }

 private:
  void add(uint32_t pid);
  std::unordered_set<uint32_t> known_, unseen_;
};

}  // namespace mlrun::trace
