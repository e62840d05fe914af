// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and the like end a merge between two row groups, so that it can remove what it has written.
#pragma once

#include <array>
#include <csignal>

#include "runner/util/result.h"

namespace mlrun::nodes {

// While one exists, these signals are noted; at its end the one that came is raised again. Those that were ignored stay so.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

[[nodiscard]] bool is_stopped();
// Fails if such a signal came.
Status check_stopped();

}  // namespace mlrun::nodes
