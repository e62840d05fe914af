// SPDX-License-Identifier: Apache-2.0
// Watches recording processes through /proc: their pids in our namespace, thread names, code mappings, and the kernel's
// I/O counts. Written as process frames (runner/events/FORMAT.md).
//
// Reading /proc costs up to a millisecond, so it is done when a process is first seen, and then while it records:
// mappings after 1 s, with the interval doubled each time they are unchanged (4 s at most); I/O counts every 2 s. A
// process that records nothing may still move bytes, e.g. by an io_uring: it is checked first after 0.2 s, then as
// often as such checks take less than 1/500 of a CPU.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/channel.h"
#include "runner/collect/pass.h"
#include "runner/collect/spool_writer.h"

namespace mlrun::collect {

// A recording process, for the samplers.
struct WatchedProcess {
  uint32_t number = 0, image = 0;  // as in mlrun_frame_channel; an exec makes a new image
  uint32_t pid = 0, host_pid = 0;  // its pid in its own pid namespace; in mlrun's
};

class ProcessWatch {
 public:
  ProcessWatch(Spool& spool, ChannelClock clock);

  // Notes a channel when it is first seen. Fills its host_pid and host_tid if they are certain, reports the thread's name, and
  // returns the start time of its process (0: unknown).
  uint64_t meet(Channel& channel, uint64_t now_ns);

  // For a channel whose host_pid is unknown: repeats meet()'s search for a process of another pid namespace, if there is
  // time for it now. Returns the start time of its process; 0: not found.
  uint64_t check_again(Channel& channel, uint64_t now_ns);

  // Notes that a channel of the process has new data: the next work() makes those of the process's checks that are due.
  void note_data(uint32_t process);

  // Notes that a channel ended.
  void leave(const Channel& channel);

  // Runs the checks that are due, for about `budget_ns` at most; the remaining checks wait for the next call.
  void work(uint64_t now_ns, uint64_t budget_ns);

  // Processes that record now and whose pid in our namespace is known.
  [[nodiscard]] std::vector<WatchedProcess> processes() const;

 private:
  struct Process {
    uint32_t number = 0, image = 0, pid = 0, host_pid = 0, ppid = 0;
    uint64_t pid_namespace = 0, start_ticks = 0;
    uint32_t channels = 0, searches = 0;
    bool queued = false, described = false;
    size_t modules_hash = 0;
    uint64_t modules_pause_ns = 0, next_modules_ns = 0, next_io_ns = 0;
  };
  Process& process_of(const Channel& channel);
  void identify(Process& process, const Channel& channel);
  uint64_t find(Process& process, Channel& channel, uint64_t now_ns);
  uint32_t search(Process& process, const Channel& channel);
  void describe_thread(Process& process, const Channel& channel);
  void check(Process& process, uint64_t now_ns);
  void check_quiet(uint64_t now_ns);
  bool add_modules(Process& process, uint64_t now_ns, nlohmann::json& text);
  void write(const nlohmann::json& text);

  Spool& spool_;
  ChannelClock clock_;
  uint64_t own_namespace_;
  uint64_t next_search_ns_ = 0, next_quiet_ns_ = 0;
  std::unordered_map<uint32_t, Process> processes_;
  std::vector<uint32_t> queue_;
};

}  // namespace mlrun::collect
