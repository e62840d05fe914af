// SPDX-License-Identifier: Apache-2.0
// io_uring, Linux aio and cuFile, which move bytes in no call of the program.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// A ring alone is not I/O: libuv's carries epoll_ctl. For rings created and entered through libc's syscall(),
// operations are recorded (preload/calls/ring_watch.h); if none moves bytes, the row is a remark. Other rings may carry
// anything.
class RingCoverage {
 public:
  // Call for every row of mmap.
  void add(const model::CallRow& row);

  // `hint`: what would record it. Requires: info.files is complete.
  void add_rows(SpoolIndex& index, const model::TraceInfo& info, const std::string& hint,
                std::vector<model::CoverageRow>& rows) const;

 private:
  [[nodiscard]] std::set<int32_t> processes(const SpoolIndex& index, const model::TraceInfo& info) const;

  std::set<std::pair<int64_t, int32_t>> mapped_;  // file_id and proc_id, of anonymous inodes
};

void add_cufile(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows);

}  // namespace mlrun::trace
