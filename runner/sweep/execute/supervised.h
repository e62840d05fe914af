// SPDX-License-Identifier: Apache-2.0
// A command under a supervisor (../supervise), as the sweep sees it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/execute/stop_signals.h"
#include "runner/sweep/store/store.h"
#include "runner/sweep/supervise/messages.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

struct SuperviseOptions {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // added to this process's environment
  std::string input = "/dev/null";
  std::string output, errors;            // files; created, or emptied
  std::string cpus, cpu_node, mem_node;  // as --cpus, --cpu-node and --mem-node; empty: anywhere
  int lock_fd = -1;
};

class Supervised {
 public:
  // The command is held before its exec.
  static Result<Supervised> start(const SuperviseOptions& options);

  Supervised(Supervised&& other) noexcept;
  Supervised& operator=(Supervised&&) = delete;
  ~Supervised();  // ends the command with all its descendants, and waits for that

  [[nodiscard]] const Processes& processes() const { return processes_; }

  void demand(Demand demand) const;
  // The next report; nullopt: none came in time, or a signal asks the sweep to stop. When the supervisor itself was killed: kGone with
  // pid 0.
  std::optional<Report> next(int timeout_ms, const StopSignals* signals) const;

 private:
  Supervised(pid_t pid, util::UniqueFd control) : pid_(pid), control_(std::move(control)) {}

  pid_t pid_;
  util::UniqueFd control_;
  Processes processes_;
};

}  // namespace mlrun::sweep
