// SPDX-License-Identifier: Apache-2.0
// Coverage rows about io_uring, Linux's aio and cuFile, which move bytes outside of the program's calls.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// A process with an io_uring need not do I/O by it: libuv submits epoll_ctl. The operations of rings that are created
// and entered through libc's syscall() are recorded (preload/calls/ring_watch.h); if none of them moves bytes, the row is
// a remark. The operations of other rings are unknown.
class RingCoverage {
 public:
  // Call for every row of mmap.
  void add(const model::CallRow& row);

  // `hint`: kernel_side_hint(). Requires: info.files is complete.
  void add_rows(SpoolIndex& index, const model::TraceInfo& info, const std::string& hint,
                std::vector<model::CoverageRow>& rows) const;

 private:
  [[nodiscard]] std::set<int32_t> processes(const SpoolIndex& index, const model::TraceInfo& info) const;

  std::set<std::pair<int64_t, int32_t>> mapped_;  // file_id and proc_id, of anonymous inodes
};

void add_cufile(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows);

}  // namespace mlrun::trace
