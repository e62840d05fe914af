// SPDX-License-Identifier: Apache-2.0
// Receives the states of runs while they are made: the database of the sweep, or the status file of a run that another machine makes.
#pragma once

#include "runner/sweep/plan/plan.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Identifies a process, even after its pid was reused.
struct ProcessMark {
  int64_t pid = 0;
  uint64_t start_ticks = 0;
  std::string boot_id;
};

// A command under a supervisor.
struct Processes {
  ProcessMark process, supervisor;
};

class RunLog {
 public:
  virtual ~RunLog() = default;
  [[nodiscard]] virtual const Plan& plan() const = 0;
  // The descriptor of the lock of the sweep's folder, for a supervisor to inherit.
  [[nodiscard]] virtual int lock_fd() const = 0;
  virtual Status set_running(const RunRow& run, const Processes& processes) = 0;
  virtual Status set_ended(const RunRow& run) = 0;  // stores everything but `planned`
  // Stores a helper (a command of the sweep that is not a run) before it starts. There is one at a time.
  virtual Status set_helper(const Processes& processes) = 0;

 protected:
  RunLog() = default;
  RunLog(RunLog&&) = default;
  RunLog& operator=(RunLog&&) = default;
};

}  // namespace mlrun::sweep
