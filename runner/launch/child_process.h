// SPDX-License-Identifier: Apache-2.0
// The command as mlrun's child, with the process group, terminal, descriptors and limits it would have without mlrun.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/launch/signal_relay.h"
#include "runner/util/proc_files.h"
#include "runner/util/result.h"

namespace mlrun::launch {

struct ChildEnd {
  int wait_status = 0;
  rusage usage{};                    // of the command and the descendants it waited for
  std::optional<util::IoCounts> io;  // I/O counts of the same processes, from /proc
};

// As a shell reports it: the exit status, or 128 + the signal's number.
int shell_status(int wait_status);

class ChildProcess {
 public:
  // Finds the program as execvp does. Fails with exit code 127 when it is not found and 126 when it cannot be executed. `in_child` runs
  // in the child before exec; if it returns an errno, there is no exec. `in_parent` runs here right after the fork.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::vector<std::string>& environment, SignalRelay& relay,
                                    const std::function<int()>& in_child, const std::function<void(pid_t)>& in_parent);

  [[nodiscard]] pid_t pid() const { return pid_; }

  // The result, once it has ended and `may_reap` returns true. `may_reap` is called only after its end, while its files in /proc can still be read.
  std::optional<ChildEnd> poll(const std::function<bool()>& may_reap);

  // Waits for it, unless poll() has returned its end. Returns the wait status.
  int wait();

 private:
  pid_t pid_ = 0;
  std::optional<int> wait_status_;
};

// Turns this process into the command. Returns only when that fails.
Error become(const std::vector<std::string>& command);

}  // namespace mlrun::launch
