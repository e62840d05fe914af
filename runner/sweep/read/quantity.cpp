// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "runner/util/time_units.h"
#include "runner/util/units.h"

namespace mlrun::sweep {
namespace {

constexpr double kPerCent = 100, kLargest = 9e18;

// Decimals of a percentage: none from 10 % on and for 0, one from 0.1 % on, else two.
int decimals(double percent) {
  const double size = std::abs(percent);
  return size == 0 || size >= 10 ? 0 : size >= 0.1 ? 1 : 2;
}

// Below 0.005 % it is 0 in text.
double rounded(double fraction) { return std::abs(fraction) < 5e-5 ? 0 : fraction * kPerCent; }

// Further decimals so that the ends of an interval differ, where they do.
int decimals_of_width(double width, int at_least) {
  constexpr int kMost = 6;
  return width > 0 ? std::clamp(static_cast<int>(std::ceil(-std::log10(width))), at_least, kMost) : at_least;
}

std::string signed_number(double fraction, double width = 0) {
  const double percent = rounded(fraction);
  if (percent == 0) return "0";
  return fmt::format("{:+.{}f}", percent, std::min(decimals_of_width(width, decimals(percent)), 2));
}

struct Unit {
  double size = 1;
  const char* name = "";
};

// The unit of an interval up to `value`. Times stay in seconds: the ends of 2 min 03 s to 2 min 04 s are compared at a glance.
Unit unit_of(const std::string& figure, double value, const util::Glyphs& glyphs) {
  if (figure.ends_with("_share")) return {1 / kPerCent, " %"};
  if (figure.ends_with("_s")) {
    for (const Unit& unit : {Unit{1, " s"}, Unit{1e-3, " ms"}, Unit{1e-6, glyphs.pick(" µs", " us")}}) {
      if (value >= unit.size) return unit;
    }
    return {1e-9, " ns"};
  }
  if (figure.ends_with("_bytes") || figure.starts_with("bytes_")) {
    for (const Unit& unit : {Unit{0x1p40, " TiB"}, Unit{0x1p30, " GiB"}, Unit{0x1p20, " MiB"}, Unit{0x1p10, " KiB"}}) {
      if (value >= unit.size) return unit;
    }
    return {1, " B"};
  }
  return {};
}

int64_t whole(double value) { return static_cast<int64_t>(std::llround(std::clamp(value, -kLargest, kLargest))); }

}  // namespace

std::string figure_text(const std::string& figure, double value, const util::Glyphs& glyphs) {
  if (!std::isfinite(value)) return "-";
  if (value < 0) return "-" + figure_text(figure, -value, glyphs);
  if (figure.ends_with("_s")) return util::time_text(whole(value * util::kNsPerS), glyphs);
  if (figure.ends_with("_bytes") || figure.starts_with("bytes_")) return util::bytes_text(whole(value));
  if (figure.ends_with("_share")) return share_text(value);
  const bool is_whole = value == std::floor(value) || value >= 1000;
  return is_whole ? util::count_text(whole(value)) : fmt::format("{:.3g}", value);
}

std::string range_text(const std::string& figure, const Interval& interval, const util::Glyphs& glyphs) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "-";
  const Unit unit = unit_of(figure, std::max(std::abs(interval.low), std::abs(interval.high)), glyphs);
  const double low = interval.low / unit.size, high = interval.high / unit.size;
  const double size = std::max(std::abs(low), std::abs(high));
  const int three_digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} to {:.{}f}{}", low, decimals_of_width(high - low, three_digits), high,
                     decimals_of_width(high - low, three_digits), unit.name);
}

std::string change_text(double fraction) { return signed_number(fraction) + " %"; }

std::string share_text(double fraction) {
  const double percent = rounded(fraction);
  return fmt::format("{:.{}f} %", percent, decimals(percent));
}

std::string changes_text(double low, double high) {
  const double width = (high - low) * kPerCent;
  return fmt::format("{} to {} %", signed_number(low, width), signed_number(high, width));
}

std::string margin_text(double fraction, const util::Glyphs& glyphs) {
  return fmt::format("{}{:.3g} %", glyphs.pick("±", "+-"), fraction * kPerCent);
}

std::string verdict_text(const Comparison& comparison, const util::Glyphs& glyphs) {
  const auto runs = [](size_t n) { return util::counted(int64_t(n), "run"); };
  if (!has_interval(comparison)) {
    const std::string change =
        std::isfinite(comparison.difference) ? change_text(comparison.difference) + ", " : std::string();
    if (has_enough_runs(comparison)) {
      return "cannot tell: " + (comparison.a == 0 ? std::string("the base is 0") : change + "no interval");
    }
    return fmt::format("cannot tell: {}{} against {}; each side needs at least {}", change, runs(comparison.n_b),
                       runs(comparison.n_a), kLeastRuns);
  }
  const std::string interval = changes_text(comparison.low, comparison.high);
  switch (comparison.verdict) {
    case Verdict::kDiffers:
      return fmt::format("differs by {} ({})",
                         rounded(comparison.difference) == 0 ? "less than 0.005 %" : change_text(comparison.difference),
                         interval);
    case Verdict::kEqual: return fmt::format("equal within {} ({})", margin_text(comparison.margin, glyphs), interval);
    case Verdict::kCannotTell: break;
  }
  const std::string needs = comparison.needs_runs ? fmt::format(", about {} on each side would tell",
                                                                util::counted(*comparison.needs_runs, "more run"))
                                                  : std::string();
  return fmt::format("cannot tell: {} ({}){}", change_text(comparison.difference), interval, needs);
}

}  // namespace mlrun::sweep
