// SPDX-License-Identifier: Apache-2.0
// Starts one command, waits for it and for its descendants, and ends them when asked to, or when the sweep is gone. It is a separate
// process because it survives a sweep that is killed, and because it is small: a command's ru_maxrss is at least the resident set of the
// process that forked it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "runner/sweep/supervise/messages.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

class Supervisor {
 public:
  // `control`: the supervisor's end of the socket. The command inherits the supervisor's standard files, environment and working
  // directory.
  explicit Supervisor(int control) : control_(control) {}

  // Returns when the command and its descendants are gone.
  Status run(char* const* command);

 private:
  Status start(char* const* command);
  void work();
  void take_demand();
  void reap();
  void note_end();
  void go();
  void report(Stage stage);
  void kill_all(int signal);
  void end_left_running(uint64_t now_ns);

  util::UniqueFd control_, gate_, exec_report_, children_;
  Report report_;
  pid_t child_ = 0;
  bool has_ended_ = false, is_killing_ = false, nothing_left_ = false;
  uint64_t kill_at_ns_ = 0;
};

}  // namespace mlrun::sweep
