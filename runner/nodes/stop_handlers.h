// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP end a merge between two row groups, so that it can remove the files that it has written.
// Handlers, which all threads of a merge ask by is_stopped. A sweep waits for its signals instead, and has children:
// runner/sweep/execute/stop_signals.h.
#pragma once

#include <array>
#include <csignal>

#include "runner/util/result.h"

namespace mlrun::nodes {

// While an object exists, these signals are only noted; its destructor raises the one that came. Signals that were ignored stay ignored.
class StopHandlers {
 public:
  StopHandlers();
  ~StopHandlers();
  StopHandlers(const StopHandlers&) = delete;
  StopHandlers& operator=(const StopHandlers&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

[[nodiscard]] bool is_stopped();
// Fails if such a signal came.
Status check_stopped();

}  // namespace mlrun::nodes
