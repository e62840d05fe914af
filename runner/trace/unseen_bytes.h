// SPDX-License-Identifier: Apache-2.0
// What the kernel counted of a process (/proc/PID/io) against what its calls recorded: bytes that no record has.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/unseen_reasons.h"

namespace mlrun::trace {

class UnseenBytes {
 public:
  void add(const model::CallRow& row, int64_t moved);

  // Requires: everything was added; info.processes and info.left_out are complete.
  void add_rows(const model::TraceInfo& info, const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows);

 private:
  struct Bytes {
    int64_t read = 0, written = 0;
  };
  [[nodiscard]] Bytes bytes_of(int32_t proc_id) const;  // as recorded

  std::vector<Bytes> bytes_;  // by proc_id
};

}  // namespace mlrun::trace
