// SPDX-License-Identifier: Apache-2.0
// A progress line on a terminal; none if standard error is not a terminal, or in the first half second.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "runner/util/status_line.h"

namespace mlrun::trace {

class Progress {
 public:
  explicit Progress(bool wanted, std::string doing = "making the trace");

  // Starts a stage that is `share` of the whole work. `events`: number of events that it handles; 0: unknown.
  void begin(double share, uint64_t events);
  // Both are thread-safe. advance(): `events` more were handled. reached(): `steps` of `all` in this stage are done.
  void advance(uint64_t events);
  void reached(uint64_t steps, uint64_t all);
  // Prints `text` as a separate line; clears the progress line before it.
  void say(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  void show_if_due();

  util::StatusLine line_;
  const std::string doing_;
  std::mutex mutex_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
  double done_share_ = 0, stage_share_ = 0;
  uint64_t stage_total_ = 0, stage_done_ = 0, events_ = 0;
};

}  // namespace mlrun::trace
