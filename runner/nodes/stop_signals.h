// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP end a merge between two row groups, so that it can remove the files that it has written.
#pragma once

#include <array>
#include <csignal>

#include "runner/util/result.h"

namespace mlrun::nodes {

// While an object exists, these signals are only noted; its destructor raises the one that came. Signals that were ignored stay ignored.
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
