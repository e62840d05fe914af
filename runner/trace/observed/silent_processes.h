// SPDX-License-Identifier: Apache-2.0
// Followed processes of which the library in the command's processes tells nothing, and the kernel does: it could not be
// loaded into them (statically linked, setuid), or they gave it no chance. What they did to files has no process in the
// tables and no calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class SilentProcesses {
 public:
  // Requires: all processes are known that the library tells of.
  explicit SilentProcesses(const model::TraceInfo& info);
  void add(const mlrun_block_part& part);
  void add(const mlrun_file_op& operation);
  // A child that only waits may have had nothing to tell; but if nobody tells of anything, it is the command itself.
  void add(const mlrun_wait& wait);
  // At least the command, where nobody tells of anything: it may have ended before it gave the kernel side anything to see.
  [[nodiscard]] int64_t count() const {
    return std::max(static_cast<int64_t>(silent_.size()), int64_t{known_.empty() ? 1 : 0});
  }

 private:
  void add(uint32_t pid);
  std::unordered_set<uint32_t> known_, silent_;
};

}  // namespace mlrun::trace
