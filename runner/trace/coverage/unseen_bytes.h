// SPDX-License-Identifier: Apache-2.0
// What the kernel counted of processes (/proc/PID/io) against what their calls recorded: bytes that no record has, of
// processes that record and of those that record nothing.
//
// The kernel adds a child's counts to those of the parent that waits for it. So each process is compared without its
// children, but for those that were there longer than it: nothing had been added of them. A child that ended before its
// parent and was not waited for (SIGCHLD ignored) is taken off as well; then less is reported than there was.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/coverage/unseen_reasons.h"
#include "runner/trace/coverage/watched_processes.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

class UnseenBytes {
 public:
  // `calls`: that the row is of.
  void add(const model::CallRow& row, int64_t moved, int64_t calls = 1);

  // Requires: everything was added; info.processes and info.left_out are complete.
  void add_rows(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched, const UnseenReasons& reasons,
                std::vector<model::CoverageRow>& rows);

  // Processes whose totals are known, and in which next to no byte is unseen. Requires: add_rows().
  [[nodiscard]] const std::set<int32_t>& whole() const { return whole_; }

  // What processes read from devices and wrote to them beyond what their calls and their libraries can have caused.
  // with_writes: false where the buffer of the recording is a file, which processes write to as well. Requires: add_rows() was
  // called.
  void add_device_rows(const SpoolIndex& index, bool with_writes, std::vector<model::CoverageRow>& rows) const;

 private:
  // As recorded.
  struct Bytes {
    int64_t read = 0, written = 0, calls = 0;
  };
  // Without those of its children; below 0: not known.
  struct Counts {
    int64_t read = -1, written = -1, read_calls = -1, write_calls = -1, from_devices = -1, to_devices = -1;
  };
  struct Process {
    int32_t proc_id = 0;  // 0: it recorded nothing
    int32_t pid = 0;      // as mlrun sees it
    int64_t parent = -1;  // index
    int64_t asked_ns = -1, last_ns = 0;
    bool is_final = false;  // the counts are of its end
    bool is_command = false, parent_recorded = false;
    std::string exe;
    Bytes seen;
    Counts whole, own;
  };
  // Processes that recorded nothing and run the same program.
  struct Silent {
    int64_t processes = 0, unnamed = 0, unreadable = 0, read = 0, written = 0;
    bool any_command = false, all_final = true;
  };
  Bytes& of(int32_t proc_id);
  void find_processes(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched);
  void find_parents(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched);
  void take_children_off();
  void add_recorded(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows);
  void add_silent(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows) const;

  std::vector<Bytes> bytes_;        // by proc_id
  std::vector<Process> processes_;  // those that recorded first, in the order of their proc_id
  std::set<int32_t> whole_;
};

}  // namespace mlrun::trace
