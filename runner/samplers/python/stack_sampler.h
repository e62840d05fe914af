// SPDX-License-Identifier: Apache-2.0
// Samples the Python stacks of recording processes: first the threads that drive the training, then all other threads in
// turn, as far as the caller's budget allows. A thread that has not run since its previous sample costs a microsecond: its
// stack is the same.
//
// A thread drives if it is the main thread of a Python process that no other Python process has started (`bash`, `uv run`
// or `mpirun` may have), or of one whose environment has a rank of its own (torchrun). In that case the main thread of
// the launcher does not drive.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/collect/process_watch.h"
#include "runner/model/run.h"
#include "runner/samplers/proc/task_table.h"
#include "runner/samplers/python/interpreter.h"
#include "runner/samplers/python/stack_batch.h"

namespace mlrun::python {

struct StackSamplerOptions {
  uint64_t pause_ns = 50'000'000;                 // between two samples of a thread
  uint64_t list_pause_ns = 500'000'000;           // between two lists of a process's threads
  uint64_t search_pause_max_ns = 16'000'000'000;  // between two searches for CPython in a process
  // The user asked for stacks: every process that cannot be read is reported, even if it may not be Python.
  bool by_name = false;
};

class StackSampler {
 public:
  using GoOn = std::function<bool()>;

  // `tasks` must outlive this object.
  StackSampler(const StackSamplerOptions& options, proc::TaskTable& tasks) : options_(options), tasks_(tasks) {}

  // Sets the processes. After an exec a process is searched again.
  void take(const std::vector<collect::WatchedProcess>& processes);

  // Stops sampling (true) and restarts it. No row or period spans a pause.
  void pause(bool is_paused);

  // A round: samples threads that drive while `drivers` returns true, calls `between`, then searches for CPython and samples
  // all other threads while `others` returns true.
  void sample(const GoOn& drivers, const GoOn& others, const std::function<void()>& between);

  // Counts rounds that were skipped for want of CPU budget.
  void leave_out(uint64_t rounds);

  // When the next round is due.
  [[nodiscard]] uint64_t due_ns(uint64_t now_ns) const;
  // Adds the problems of processes that are known only when sampling ends.
  void finish();

  [[nodiscard]] const model::PythonSampler& state() const { return state_; }
  StackBatch& batch() { return batch_; }

 private:
  struct Thread {
    Interpreter::Thread id;
    uint64_t sampled_ns = 0;  // 0: never
    uint64_t known_ns = 0;    // time of the last sample that was not discarded
    proc::Task::Sight sight;
    Stack stack;  // empty: unknown
  };
  struct Process {
    collect::WatchedProcess who;
    std::unique_ptr<Interpreter> interpreter;  // null: not found
    bool is_hopeless = false, drives = false;
    uint64_t next_search_ns = 0, search_pause_ns = kShortestPauseNs, listed_ns = 0;
    uint64_t samples = 0, discarded = 0;
    std::vector<uint32_t> ancestors;  // host pids, the parent first
    std::string rank;                 // empty: none
    std::vector<Thread> threads;
  };
  static constexpr uint64_t kShortestPauseNs = 50'000'000;

  void search(Process& process);
  // Stops sampling this process. `why`: the problem to report; empty: none.
  void give_up(Process& process, const std::string& why);
  void add_problem(const Process& process, const std::string& why);
  void end(const Process& process);
  void find_drivers();
  void list(Process& process);
  bool sample_due(bool drivers, const GoOn& go_on);
  void sample_thread(Process& process, Thread& thread);

  StackSamplerOptions options_;
  proc::TaskTable& tasks_;
  StackBatch batch_;
  model::PythonSampler state_;
  InterpreterFiles files_;
  std::map<uint32_t, Process> processes_;  // by number
  bool are_drivers_known_ = false, is_paused_ = false;
};

}  // namespace mlrun::python
