// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kDrawNs = 1'000'000'000;

std::string time_of(double s) { return summary::time_text(static_cast<int64_t>(s * 1e9), {}); }

size_t width_of_terminal() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string result_text(const RunRow& run) {
  const auto wall = run.figures.find("wall_s");
  const std::string time = wall == run.figures.end() ? "" : time_of(wall->second);
  if (run.state == RunState::kDone) return time;
  if (run.state == RunState::kTimedOut) return "timed out after " + time;
  return "failed: " + util::printable(run.failure);
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

void Progress::done(size_t runs, size_t failed, const std::string& folder) {
  clear();
  if (quiet_) return;
  const std::string bad = failed == 0 ? "" : fmt::format(", {} of them failed", failed);
  fmt::print(stderr, "mlrun: {} runs{}: mlrun sweep stat {}\n", runs, bad, util::printable(folder));
}

void Progress::begin(const RunRow& run, size_t number, size_t total) {
  number_ = number;
  total_ = total;
  name_ = util::printable(run.planned.folder);
  begun_ns_ = util::monotonic_ns();
  if (terminal_) draw();
}

void Progress::end(const RunRow& run, uint64_t spent_ns) {
  spent_s_[{run.planned.configuration, run.planned.workload}].push_back(static_cast<double>(spent_ns) / 1e9);
  last_ = fmt::format("{} {}", name_, result_text(run));
  if (quiet_) return;
  const bool is_news = !terminal_ || run.state != RunState::kDone;
  if (!is_news) return;
  clear();
  const std::string left = time_left();
  fmt::print(stderr, "run {} of {}: {}{}\n", number_, total_, last_, left.empty() ? "" : "; " + left);
}

void Progress::tick() {
  if (terminal_ && util::monotonic_ns() - drawn_ns_ >= kDrawNs) draw();
}

// The sum of the means of the cells that are left, and twice the standard deviation of that sum. A cell that has not run yet
// takes as long as the mean of all.
std::string Progress::time_left() const {
  double all_s = 0;
  size_t all = 0;
  for (const auto& [cell, spent] : spent_s_) {
    for (const double one : spent) all_s += one;
    all += spent.size();
  }
  if (all == 0 || left_.empty()) return {};
  double sum_s = 0, variance = 0;
  for (const RunRow& run : left_) {
    const auto found = spent_s_.find({run.planned.configuration, run.planned.workload});
    const bool is_known = found != spent_s_.end();
    double mean = all_s / static_cast<double>(all);
    if (is_known) {
      mean = 0;
      for (const double one : found->second) mean += one / static_cast<double>(found->second.size());
    }
    sum_s += mean;
    if (!is_known || found->second.size() < 2) {
      variance += mean * mean / 4;
      continue;
    }
    double squares = 0;
    for (const double one : found->second) squares += (one - mean) * (one - mean);
    variance += squares / static_cast<double>(found->second.size() - 1);
  }
  return fmt::format("{} ± {} left", time_of(sum_s), time_of(2 * std::sqrt(variance)));
}

void Progress::draw() {
  drawn_ns_ = util::monotonic_ns();
  const double running_s = static_cast<double>(drawn_ns_ - begun_ns_) / 1e9;
  std::string line = fmt::format("run {} of {}: {} {}", number_, total_, name_, time_of(running_s));
  if (const std::string left = time_left(); !left.empty()) line += "; " + left;
  if (!last_.empty()) line += "; last: " + last_;
  const size_t width = width_of_terminal();
  // Cut by bytes, at the start of a character: the line must not wrap.
  if (line.size() >= width) {
    size_t end = width - 1;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
    line.resize(end);
  }
  fmt::print(stderr, "\r\x1b[K{}", line);
  drawn_ = true;
}

}  // namespace mlrun::sweep
