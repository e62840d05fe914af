// SPDX-License-Identifier: Apache-2.0
// Watches the command and its descendants through /proc, whether they record or not: which processes existed, and the
// kernel's I/O counts of each. The merger uses this to find processes that recorded nothing.
//
// A scan walks the tree by /proc/PID/task/TID/children. Pauses between scans begin with 50 ms, after a new process too, and grow to 2 s, or to 0.2 s
// where samplers take their processes from here. Scans take at most 1/500 of a CPU. A process whose parent ends before a scan finds it is reparented
// (to init) and not in the tree.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/proc_files.h"

namespace mlrun::collect {

class DescendantWatch {
 public:
  // Scans at once: the command may be short-lived. `is_asked`: samplers call alive(), and see no process before a scan has found it.
  explicit DescendantWatch(pid_t command, bool is_asked = false);

  // Scans if due.
  void work(uint64_t now_ns);

  // To be called when the command has ended but is not reaped: its counts in /proc are then final and include the
  // descendants that it waited for.
  void note_command_end(const std::optional<util::IoCounts>& io);

  // Pids of the processes that were alive at the last scan, the command first.
  [[nodiscard]] std::vector<uint32_t> alive() const;

  // Scans a last time; returns the processes, the number of those left out and the cost of all scans, for session.json.
  nlohmann::json finish();

 private:
  struct Process {
    uint32_t pid = 0, ppid = 0, pid_inside = 0;
    uint64_t start_ticks = 0, pid_namespace = 0, seen_ns = 0, io_ns = 0;
    std::string exe, comm;
    std::optional<util::IoCounts> io;
    bool alive = true, is_final = false;
  };
  void scan(uint64_t now_ns);
  bool visit(uint32_t pid, uint64_t now_ns, std::vector<uint32_t>& open);
  Process* find_or_add(uint32_t pid, const util::ProcStat& stat);
  Process* add(uint32_t pid, uint64_t start_ticks);
  [[nodiscard]] static bool is_gone(const Process& process);
  static nlohmann::json describe(const Process& process);

  uint32_t command_;
  uint64_t longest_pause_ns_;
  std::vector<Process> processes_;     // the command first
  std::map<uint32_t, size_t> newest_;  // by pid: index of its newest process
  uint64_t next_ns_ = 0, pause_ns_;
  std::map<uint32_t, uint64_t> refused_;  // by pid: start time of processes for which the table had no place
  size_t next_place_ = 1;                 // where this scan resumes its search for an ended process to replace
  uint64_t scans_ = 0, scan_ns_ = 0, added_ = 0, left_out_ = 0;
};

}  // namespace mlrun::collect
