// SPDX-License-Identifier: Apache-2.0
// Figures, differences and verdicts as text.
#pragma once

#include <cmath>
#include <string>

#include "runner/sweep/statistics/statistics.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

// A value with the unit that the figure's name says: "2.31 s", "1.23 GiB", "93 %", "1,234".
std::string figure_text(const std::string& figure, double value, const util::Glyphs& glyphs);

// "2.29 to 2.33 s", in one unit, with as many digits as make the ends differ.
std::string range_text(const std::string& figure, const Interval& interval, const util::Glyphs& glyphs);

// "+5.6 %", "-0.04 %", "0 %".
std::string change_text(double fraction);
// Without a sign: "0.8 %".
std::string share_text(double fraction);
// "+4.8 to +7.0 %".
std::string changes_text(double low, double high);

// "±3 %".
std::string margin_text(double fraction, const util::Glyphs& glyphs);

// One of the three verdicts: "differs by +5.6 % (+4.8 to +7.0 %)", "equal within ±3 % (-0.4 to +0.6 %)", "cannot tell: +1.2 %
// (-2.0 to +4.5 %), about 12 more runs on each side would tell".
std::string verdict_text(const Comparison& comparison, const util::Glyphs& glyphs);

// With fewer runs than this on a side, figures are shown side by side, without an interval.
inline constexpr size_t kLeastRuns = 3;
inline bool has_enough_runs(const Comparison& comparison) {
  return comparison.n_a >= kLeastRuns && comparison.n_b >= kLeastRuns;
}
inline bool has_interval(const Comparison& comparison) {
  return has_enough_runs(comparison) && std::isfinite(comparison.low) && std::isfinite(comparison.high);
}

}  // namespace mlrun::sweep
