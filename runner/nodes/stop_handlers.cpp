// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/stop_handlers.h"

#include <atomic>

namespace mlrun::nodes {

namespace {

std::atomic<int> stop_signal = 0;

}  // namespace

StopHandlers::StopHandlers() {
  struct sigaction action {};
  action.sa_handler = [](int number) { stop_signal = number; };
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopHandlers::~StopHandlers() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  if (stop_signal != 0) ::raise(stop_signal);
}

bool is_stopped() { return stop_signal != 0; }

Status check_stopped() {
  if (is_stopped()) return fail("the merge was stopped");
  return {};
}

}  // namespace mlrun::nodes
