// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that tells how far the merge is; nothing when standard error is none, or when it is done in a
// moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace mlrun::trace {

class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A stage that is `share` of the whole work. `events`: how many it handles, 0: not known.
  void begin(double share, uint64_t events);
  // These two are safe from several threads. advance(): so many events more. reached(): so many steps of the stage.
  void advance(uint64_t events);
  void reached(uint64_t steps, uint64_t all);
  // A line of its own.
  void say(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  void show_if_due();

  bool shown_ = false;
  const bool wanted_;
  std::mutex mutex_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
  double done_share_ = 0, stage_share_ = 0;
  uint64_t stage_total_ = 0, stage_done_ = 0, events_ = 0;
};

}  // namespace mlrun::trace
