// SPDX-License-Identifier: Apache-2.0
// Blocks Ctrl-C, SIGTERM, SIGHUP and SIGQUIT, except those that are ignored, and reads them from a signalfd, so that they end a sweep only
// between two steps. Children start with these signals unblocked.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>

#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

class StopSignals {
 public:
  StopSignals();   // blocks the signals
  ~StopSignals();  // restores the mask
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Readable when a signal has arrived.
  [[nodiscard]] int fd() const { return fd_.get(); }
  // The first signal that has arrived, if any.
  std::optional<int> taken();
  // Waits this long, or until a signal arrives. True: one has arrived.
  bool wait(uint64_t ns);

 private:
  sigset_t before_{};
  util::UniqueFd fd_;
  std::optional<int> taken_;
};

// The signal mask for child processes: the current one without the signals that StopSignals blocks.
sigset_t mask_of_children();

}  // namespace mlrun::sweep
