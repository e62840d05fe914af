// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/progress.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>

#include "runner/report/text/terminal.h"
#include "runner/sweep/statistics/student.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kDrawNs = 1'000'000'000;

std::string time_of(double s, const util::Glyphs& glyphs) {
  return util::time_text(static_cast<int64_t>(s * 1e9), glyphs);
}

std::string result_text(const RunRow& run, const util::Glyphs& glyphs) {
  const auto wall = run.figures.find("wall_s");
  std::string time = wall == run.figures.end() ? "" : time_of(wall->second, glyphs);
  if (run.state == RunState::kDone) return time;
  if (run.state == RunState::kTimedOut) return time.empty() ? "timed out" : "timed out after " + time;
  return "failed: " + util::printable(run.failure);
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), line_(!quiet), style_(report::style_of(stderr)) {}

void Progress::done(size_t runs, size_t failed, const std::string& folder) {
  line_.clear();
  if (quiet_) return;
  const std::string bad = failed == 0 ? "" : fmt::format(", {} of them failed", failed);
  util::say(fmt::format("{} made{}; see mlrun sweep stat {}", util::counted(static_cast<int64_t>(runs), "run"), bad,
                        report::shell_word(folder)));
}

void Progress::begin(const RunRow& run, size_t number, size_t total) {
  number_ = number;
  total_ = total;
  name_ = util::printable(run.planned.folder);
  begun_ns_ = util::monotonic_ns();
  if (line_.wanted()) draw();
}

void Progress::end(const RunRow& run, uint64_t spent_ns) {
  spent_s_[{run.planned.configuration, run.planned.workload}].push_back(util::in_seconds(spent_ns));
  last_ = result_text(run, style_.glyphs);
  const bool is_news = !line_.wanted() || run.state != RunState::kDone;
  if (quiet_ || !is_news) return;
  line_.clear();
  const std::string left = time_left();
  util::say(fmt::format("run {} of {}: {} {}{}", number_, total_, name_, last_, left.empty() ? "" : "; " + left));
}

void Progress::tick() {
  if (line_.wanted() && util::monotonic_ns() - drawn_ns_ >= kDrawNs) draw();
}

// Expected time of the runs that are left, and twice its standard deviation. A cell without a run so far is taken to need the mean of all
// runs. A cell with less than two runs is taken to have half of its mean as its deviation.
std::string Progress::time_left() const {
  double all_s = 0;
  size_t all = 0;
  for (const auto& [cell, spent] : spent_s_) {
    all_s += std::accumulate(spent.begin(), spent.end(), 0.0);
    all += spent.size();
  }
  if (all == 0 || left_.empty()) return {};
  double sum_s = 0, variance = 0;
  for (const auto& [cell, runs] : left_) {
    const auto found = spent_s_.find(cell);
    const bool is_known = found != spent_s_.end();
    const Moments known = is_known ? moments(found->second) : Moments{0, all_s / static_cast<double>(all), 0};
    const double mean = known.mean;
    const double spread = known.n > 1 ? known.sd * known.sd : mean * mean / 4;
    sum_s += mean * static_cast<double>(runs);
    variance += spread * static_cast<double>(runs);
  }
  const util::Glyphs& glyphs = style_.glyphs;
  return fmt::format("{} {} {} left", time_of(sum_s, glyphs), glyphs.pick("±", "+-"),
                     time_of(2 * std::sqrt(variance), glyphs));
}

void Progress::draw() {
  drawn_ns_ = util::monotonic_ns();
  const uint64_t running_ns = drawn_ns_ - begun_ns_;
  std::string line = fmt::format("run {} of {}: ", number_, total_);
  if (const std::string left = time_left(); !left.empty()) line += left + "; ";
  if (!last_.empty()) line += "last " + last_ + "; ";
  line += "now " + name_;
  if (running_ns >= kDrawNs) line += ", " + util::time_text(static_cast<int64_t>(running_ns), style_.glyphs);
  line_.show(report::cut_end(line, style_.width - 1, style_.glyphs));
}

}  // namespace mlrun::sweep
