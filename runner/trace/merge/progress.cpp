// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runner/util/log.h"

namespace mlrun::trace {

namespace {
constexpr auto kQuietTime = std::chrono::milliseconds(500);
constexpr auto kPause = std::chrono::milliseconds(200);
constexpr double kShareForForecast = 0.02;
}  // namespace

Progress::Progress(bool wanted, std::string doing) : line_(wanted), doing_(std::move(doing)) {}

void Progress::begin(double share, uint64_t events) {
  const std::lock_guard lock(mutex_);
  done_share_ += stage_share_;
  stage_share_ = share;
  stage_total_ = events;
  stage_done_ = 0;
}

void Progress::advance(uint64_t events) {
  const std::lock_guard lock(mutex_);
  stage_done_ += events;
  events_ += events;
  show_if_due();
}

void Progress::reached(uint64_t steps, uint64_t all) {
  const std::lock_guard lock(mutex_);
  stage_done_ = steps;
  stage_total_ = all;
  show_if_due();
}

void Progress::say(std::string_view text) {
  const std::lock_guard lock(mutex_);
  line_.clear();
  util::say(text);
}

void Progress::show_if_due() {
  const auto now = Clock::now();
  if (!line_.wanted() || now - start_ < kQuietTime || now - last_shown_ < kPause) return;
  last_shown_ = now;
  const double stage = stage_total_ == 0 ? 0 : static_cast<double>(stage_done_) / static_cast<double>(stage_total_);
  const double share = std::clamp(done_share_ + stage_share_ * stage, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{}: {:.0f} %", doing_, share * 100);
  const double rate = static_cast<double>(events_) / seconds;
  if (events_ != 0)
    line +=
        rate < 1e6 ? fmt::format(", {:.0f} k events/s", rate / 1e3) : fmt::format(", {:.1f} M events/s", rate / 1e6);
  if (share > kShareForForecast) line += fmt::format(", {:.0f} s left", seconds * (1 - share) / share);
  line_.show(line);
}

}  // namespace mlrun::trace
