// SPDX-License-Identifier: Apache-2.0
// Compares the kernel's counts of processes (/proc/PID/io) with their recorded calls: unrecorded bytes, of processes
// that recorded and of those that did not.
//
// The kernel adds a child's counts to those of the parent that waits for it. So each process is compared without its
// children, except those that outlived it, which were not added. A child that ended before its parent and was not
// waited for (SIGCHLD ignored) is subtracted as well; the reported amount is then too low.
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
  // `calls`: number of calls that the row represents.
  void add(const model::CallRow& row, int64_t moved, int64_t calls = 1);

  // Requires: everything was added; info.processes and info.left_out are complete.
  void add_rows(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched, const UnseenReasons& reasons,
                std::vector<model::CoverageRow>& rows);

  // Processes with known totals and almost no unrecorded bytes. Requires: add_rows() was called.
  [[nodiscard]] const std::set<int32_t>& whole() const { return whole_; }

  // Device reads and writes of processes beyond what their calls and libraries can have caused. with_writes: false if
  // the arena is a file, which processes write to as well. Requires: add_rows() was called.
  void add_device_rows(const SpoolIndex& index, bool with_writes, std::vector<model::CoverageRow>& rows) const;

 private:
  // Recorded bytes and calls.
  struct Bytes {
    int64_t read = 0, written = 0, calls = 0;
  };
  // The kernel's counts without those of children; below 0: unknown.
  struct Counts {
    int64_t read = -1, written = -1, read_calls = -1, write_calls = -1, from_devices = -1, to_devices = -1;
  };
  struct Process {
    int32_t proc_id = 0;  // 0: it recorded nothing
    int32_t pid = 0;      // in mlrun's namespace
    int64_t parent = -1;  // index
    int64_t asked_ns = -1, last_ns = 0;
    bool is_final = false;  // the counts were taken at its end
    bool is_command = false, parent_recorded = false;
    bool is_in_parent =
        false;  // recorded nothing; the parent's counts have all its bytes, its own only those of a sample
    std::string exe;
    Bytes seen;
    Counts whole, own;
  };
  // Processes of the same program that recorded nothing.
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
  std::vector<Process> processes_;  // those that recorded first, in order of proc_id
  std::set<int32_t> whole_;
};

}  // namespace mlrun::trace
