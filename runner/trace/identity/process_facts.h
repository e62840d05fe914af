// SPDX-License-Identifier: Apache-2.0
// The spool's records of processes, by the producers' process numbers, before they are joined: from the processes
// themselves, and from the collector's observation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/trace/identity/module_map.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/trace/spool/spool_channels.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

// I/O as counted by the kernel; -1: unknown.
struct KernelIo {
  int64_t ts_ns = -1;
  int64_t rchar = -1, wchar = -1, syscr = -1, syscw = -1;
  int64_t read_bytes = -1, write_bytes = -1;  // of devices
};

// From JSON with the names of /proc/PID/io, which is untrusted.
[[nodiscard]] KernelIo kernel_io_in(const nlohmann::json& io, int64_t ts_ns);

// One process number: an image that was loaded, or a forked child.
struct ProcessFacts {
  uint32_t number = 0;
  uint32_t pid = 0, host_pid = 0, ppid = 0;
  uint64_t pid_namespace = 0, start_ticks = 0;
  int64_t first_ns = kLatestNs, last_ns = 0;
  bool loaded = false;                        // loaded by exec, as far as recorded
  bool end_recorded = false;                  // it recorded its exit, or the exec of another program
  std::vector<decode::ProcessEvent> records;  // in the order of the spool
  KernelIo io;
};

// A thread's name from a moment on.
struct CommFact {
  uint32_t process = 0, tid = 0;
  int64_t ts_ns = 0;
  std::string comm;
};

// A process created by this channel; pid in the channel's namespace.
struct ChildFact {
  uint32_t channel = 0;  // index
  int64_t ts_ns = 0;
  uint32_t pid = 0;
  int32_t proc_id = 0;  // set by find_parents(); 0: it recorded nothing
};

// A wait of this channel's process that returned an ended child, with its wait status.
struct ChildEndFact {
  uint32_t channel = 0;  // index
  int64_t ts_ns = 0;
  uint32_t pid = 0;  // in the channel's namespace
  int32_t status = 0;
};

class ProcessNotes {
 public:
  // Requires: in the order of the spool.
  void add(const ChunkScan& scan);

  // Gives what was added its process or channel, and converts its times to the trace's clock (those of rings() and threads() stay).
  // Requires: everything was added, and `channels` is complete. Names stay ids of texts, except in comms(): the collector read these.
  void place(SpoolChannels& channels, const TraceClock& clock, mlrun_clock_kind session_clock);

  [[nodiscard]] const std::map<uint32_t, ProcessFacts>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<CommFact>& comms() const { return comms_; }
  [[nodiscard]] const std::vector<OfChannel<decode::CommEvent>>& comm_events() const { return comm_events_; }
  [[nodiscard]] const std::vector<ChildFact>& children() const { return children_; }
  [[nodiscard]] std::vector<ChildFact>& children() { return children_; }
  // io_uring instances created through libc, by channel.
  [[nodiscard]] const std::vector<OfChannel<decode::RingEvent>>& rings() const { return rings_; }
  [[nodiscard]] const std::vector<ChildEndFact>& child_ends() const { return child_ends_; }
  // Clocks are those of the channels.
  [[nodiscard]] const std::vector<OfChannel<ThreadNote>>& threads() const { return threads_; }
  [[nodiscard]] ModuleMap& modules() { return modules_; }
  [[nodiscard]] const ModuleMap& modules() const { return modules_; }
  [[nodiscard]] uint64_t unreadable_texts() const { return unreadable_texts_; }

 private:
  struct Report {
    uint64_t clock = 0;
    uint32_t process = 0, pid = 0, host_pid = 0, ppid = 0, tid = 0;
    uint64_t start_ticks = 0;
    std::string comm;
    KernelIo io;
  };
  void add_text(const ProcessText& text);
  void place_channels(const SpoolChannels& channels, const TraceClock& clock);
  void place_events(SpoolChannels& channels, const TraceClock& clock);
  void place_reports(const TraceClock& clock, mlrun_clock_kind session_clock);
  ProcessFacts& facts_of(uint32_t number);

  std::vector<OfChannel<decode::ProcessEvent>> process_events_;
  std::vector<OfChannel<decode::EndEvent>> end_events_;
  std::vector<OfChannel<decode::CommEvent>> comm_events_;
  std::vector<OfChannel<ChildNote>> child_events_;
  std::vector<OfChannel<decode::ChildEndEvent>> child_end_events_;
  std::vector<Report> reports_;
  uint64_t unreadable_texts_ = 0;

  std::map<uint32_t, ProcessFacts> processes_;
  std::vector<CommFact> comms_;
  std::vector<ChildFact> children_;
  std::vector<ChildEndFact> child_ends_;
  std::vector<OfChannel<decode::RingEvent>> rings_;
  std::vector<OfChannel<ThreadNote>> threads_;
  ModuleMap modules_;
};

}  // namespace mlrun::trace
