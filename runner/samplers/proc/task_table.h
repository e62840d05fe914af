// SPDX-License-Identifier: Apache-2.0
// Lists the threads of the recording processes from /proc once a second, including threads that record nothing, and
// samples them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "runner/samplers/proc/task.h"

namespace mlrun::proc {

class TaskTable {
 public:
  struct Owner {
    uint32_t number = 0;             // as mlrun_frame_channel.process
    uint32_t pid = 0, host_pid = 0;  // its pid in its own pid namespace; in mlrun's
  };
  // Sets the processes. If several have the same host_pid (an exec), the one with the largest number counts.
  void set(const std::vector<Owner>& owners);

  // The thread with this id in the process's own pid namespace; nullptr: not known. Valid until work() or set().
  Task* find(uint32_t host_pid, uint32_t tid);

  // Samples a thread; false: it has ended, and `task` is gone.
  bool sample(Task& task, uint64_t now_ns);

  // Lists the threads of processes and samples those that were not sampled for a second, while `go_on` holds. A
  // process whose number of threads is the same is listed less often.
  void work(uint64_t now_ns, const std::function<bool()>& go_on);
  // When work() is due next.
  [[nodiscard]] uint64_t due_ns() const;
  void finish();

  // The rows since the last call.
  std::vector<mlrun_thread_sample> take();

 private:
  static constexpr size_t kTasksMax = 20'000;  // further threads are not sampled
  static constexpr size_t kKeptOpenMax = 200;  // threads whose files stay open; each takes two of mlrun's descriptors
  static constexpr uint64_t kPauseNs = 950'000'000, kListNs = 5'000'000'000;
  static constexpr uint64_t kWorkNs = 200'000'000;  // least time between two calls of work() that have an effect

  struct Process {
    Owner owner;
    uint64_t counted_ns = 0;         // 0: never
    uint64_t listed_ns = 0;          // 0: never, or a thread has ended since
    std::map<uint32_t, Task> tasks;  // by host_tid
    // host_tid by the tid in the process's pid namespace, if that is not mlrun's.
    std::unordered_map<uint32_t, uint32_t> hosts;
  };
  Task* add(Process& process, uint32_t host_tid);
  void remove(Process& process, std::map<uint32_t, Task>::iterator task);
  void list(Process& process, uint64_t now_ns, const std::function<bool()>& go_on);

  std::unordered_map<uint32_t, Process> processes_;  // by host_pid
  std::vector<mlrun_thread_sample> rows_;
  size_t tasks_ = 0, kept_open_ = 0;
  uint64_t next_work_ns_ = 0;
};

}  // namespace mlrun::proc
