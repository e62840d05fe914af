// SPDX-License-Identifier: Apache-2.0
// Finds unrecorded bytes: compares the kernel's I/O counts of each process (/proc/PID/io) with the process's recorded
// calls. Includes processes that recorded nothing.
//
// The kernel adds a child's counts to its parent's when the parent waits for it. So the counts of children are subtracted
// from a process's, except those of children that outlived it, which were not added. The counts of a child that ended
// first and was not waited for (SIGCHLD ignored) are subtracted wrongly; the reported amount is then too low.
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

  // Requires: all rows were added; info.processes and info.left_out are complete.
  void add_rows(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched, const UnseenReasons& reasons,
                std::vector<model::CoverageRow>& rows);

  // proc_id of processes with known totals and almost no unrecorded bytes. Requires: add_rows() was called.
  [[nodiscard]] const std::set<int32_t>& whole() const { return whole_; }

  // Adds rows for bytes that processes read from and wrote to devices beyond what their calls and libraries can have
  // caused. with_writes: false if the buffer (arena) is a file, since processes write to it, too. Requires: add_rows()
  // was called.
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
    int64_t parent = -1;  // index in processes_; -1: unknown
    int64_t asked_ns = -1, last_ns = 0;
    bool is_final = false;  // the counts were taken at its end
    bool is_command = false, parent_recorded = false;
    // The process recorded nothing and its last counts were read before its end: only the parent's have all its bytes.
    bool is_in_parent = false;
    std::string exe;
    Bytes seen;
    Counts whole, own;
  };
  // Sums over the processes of one program that recorded nothing.
  struct Unseen {
    int64_t processes = 0, unnamed = 0, unreadable = 0, read = 0, written = 0;
    bool any_command = false, all_final = true;
  };
  Bytes& of(int32_t proc_id);
  void find_processes(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched);
  void find_parents(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched);
  void take_children_off();
  void add_recorded(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows);
  void add_unseen_processes(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows) const;

  std::vector<Bytes> bytes_;        // by proc_id
  std::vector<Process> processes_;  // first the processes that recorded, in order of proc_id, then the unseen ones
  std::set<int32_t> whole_;
};

}  // namespace mlrun::trace
