// SPDX-License-Identifier: Apache-2.0
// Pictures of repeated runs for a terminal; ASCII if the terminal has no Unicode.
//
//   2.50 s          ⠁            dots: every run in run order, one band of lines for each series, on one scale
//   dry    ⠄⠂⠄⠂⠄⠂⠄
//   2.29 s
//
//   dry    ├─●─┤                 bars: each interval with its centre, on one scale
//   full              ├──●──┤
//          2.29 s      2.50 s
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/report/text/text_style.h"
#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

using ValueText = std::function<std::string(double)>;  // a value of the scale with its unit

struct NamedSeries {
  std::string name;
  Series series;
};

// Columns are the positions of all runs, from the first to the last; several positions share one where they do not fit.
std::string dots(const std::vector<NamedSeries>& all, const ValueText& value_text, const report::TextStyle& style);

struct NamedBar {
  std::string name;
  double centre = 0;
  std::optional<Interval> interval;  // nullopt: only the centre is drawn
};

// `zero`: a value that is marked by a vertical line, such as no difference.
std::string bars(const std::vector<NamedBar>& all, std::optional<double> zero, const ValueText& value_text,
                 const report::TextStyle& style);

}  // namespace mlrun::sweep
