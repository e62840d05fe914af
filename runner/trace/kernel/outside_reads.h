// SPDX-License-Identifier: Apache-2.0
// What followed threads read from devices while they were in no recorded call or operation: page faults of mapped files,
// programs and libraries being loaded, asynchronous I/O; where the library is not in the processes also folders that are listed
// and attributes that are asked for. Where functions of the kernel tell of operations on files these have
// rows of their own; where they do not (tracepoints alone), this is all that is known of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/events/kernel_record.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

class OutsideReads {
 public:
  // is_outside: it was queued in no recorded call, or where there are none in no operation. file_id: 0 where it is not known.
  // The pages that were read so.
  int64_t add(const mlrun_block_part& part, int64_t file_id, bool is_outside);
  // A row of coverage; none where it is next to nothing. Requires: what is missing of calls and why is known.
  void add_row(model::TraceInfo& info) const;

 private:
  [[nodiscard]] std::string files_text(const model::TraceInfo& info) const;

  std::map<int64_t, int64_t> files_;  // bytes by file_id
  int64_t all_bytes_ = 0, outside_bytes_ = 0;
};

}  // namespace mlrun::trace
