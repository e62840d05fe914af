// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace mlrun::sweep {
namespace {

constexpr double kNsPerSecond = 1e9, kPerCent = 100, kLargest = 9e18;

// Decimals so that two digits are seen of a small percentage, and none of a large one.
int decimals(double percent) {
  const double size = std::abs(percent);
  return size == 0 || size >= 10 ? 0 : size >= 0.1 ? 1 : 2;
}

// Below 0.005 % it is 0 in text.
double rounded(double fraction) { return std::abs(fraction) < 5e-5 ? 0 : fraction * kPerCent; }

std::string signed_number(double fraction) {
  const double percent = rounded(fraction);
  if (percent == 0) return "0";
  return fmt::format("{:+.{}f}", percent, decimals(percent));
}

int64_t whole(double value) { return static_cast<int64_t>(std::llround(std::clamp(value, -kLargest, kLargest))); }

}  // namespace

std::string figure_text(const std::string& figure, double value, const summary::Glyphs& glyphs) {
  if (!std::isfinite(value)) return "-";
  if (value < 0) return "-" + figure_text(figure, -value, glyphs);
  if (figure.ends_with("_s")) return summary::time_text(whole(value * kNsPerSecond), glyphs);
  if (figure.ends_with("_bytes") || figure.starts_with("bytes_")) return summary::bytes_text(whole(value));
  if (figure.ends_with("_share")) return share_text(value);
  const bool is_whole = value == std::floor(value) || value >= 1000;
  return is_whole ? summary::count_text(whole(value)) : fmt::format("{:.3g}", value);
}

std::string range_text(const std::string& figure, const Interval& interval, const summary::Glyphs& glyphs) {
  std::string low = figure_text(figure, interval.low, glyphs);
  const std::string high = figure_text(figure, interval.high, glyphs);
  const auto unit = [](const std::string& text) { return text.substr(std::min(text.find(' '), text.size())); };
  if (unit(low) == unit(high)) low.resize(low.size() - unit(low).size());
  return low + " to " + high;
}

std::string change_text(double fraction) { return signed_number(fraction) + " %"; }

std::string share_text(double fraction) {
  const double percent = rounded(fraction);
  return fmt::format("{:.{}f} %", percent, decimals(percent));
}

std::string changes_text(double low, double high) {
  return fmt::format("{} to {} %", signed_number(low), signed_number(high));
}

std::string margin_text(double fraction, const summary::Glyphs& glyphs) {
  return fmt::format("{}{:.3g} %", glyphs.pick("±", "+-"), fraction * kPerCent);
}

std::string verdict_text(const Comparison& comparison, const summary::Glyphs& glyphs) {
  const auto runs = [](size_t n) { return fmt::format("{} run{}", n, n == 1 ? "" : "s"); };
  if (!has_interval(comparison)) {
    const std::string change =
        std::isfinite(comparison.difference) ? change_text(comparison.difference) + ", " : std::string();
    if (has_enough_runs(comparison)) return "cannot tell: " + change + "no interval";
    return fmt::format("cannot tell: {}{} against {}, {} a side are the fewest", change, runs(comparison.n_b),
                       runs(comparison.n_a), kLeastRuns);
  }
  const std::string interval = changes_text(comparison.low, comparison.high);
  switch (comparison.verdict) {
    case Verdict::kDiffers: return fmt::format("differs by {} ({})", change_text(comparison.difference), interval);
    case Verdict::kEqual: return fmt::format("equal within {} ({})", margin_text(comparison.margin, glyphs), interval);
    case Verdict::kCannotTell: break;
  }
  const std::string needs = comparison.needs_runs ? fmt::format(", about {} more a side would",
                                                                runs(static_cast<size_t>(*comparison.needs_runs)))
                                                  : std::string();
  return fmt::format("cannot tell: {} ({}){}", change_text(comparison.difference), interval, needs);
}

}  // namespace mlrun::sweep
