// SPDX-License-Identifier: Apache-2.0
// Bytes that recorded threads read from devices outside of recorded calls and operations: page faults of mapped files,
// loading of programs and libraries, asynchronous I/O; without the library in the processes also directory listing and
// stat. If the kernel side records file operations by kernel functions, page faults (if their function was found) and
// asynchronous I/O have rows in vfs; by tracepoints only, these bytes are all that is known of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class OutsideReads {
 public:
  // is_outside: the bio was queued in no recorded call or, in runs without calls, in no operation. file_id: 0 if
  // unknown. Returns the number of pages read outside.
  int64_t add(const mlrun_bio_fragment& fragment, int64_t file_id, bool is_outside);
  // Adds a row of coverage unless the amount is negligible. Requires: losses and left_out are complete.
  void add_row(model::TraceInfo& info) const;

 private:
  [[nodiscard]] std::string files_text(const model::TraceInfo& info) const;

  std::map<int64_t, int64_t> files_;  // bytes by file_id
  int64_t all_bytes_ = 0, outside_bytes_ = 0;
};

}  // namespace mlrun::trace
