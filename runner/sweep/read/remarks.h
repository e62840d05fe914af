// SPDX-License-Identifier: Apache-2.0
// Warnings about figures: failed runs, two modes, a drift, runs of which only some read from devices, an order of runs that hides a
// drift.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/read/cells.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

std::vector<std::string> remarks_on(const std::string& figure, const Description& description);
// Remarks about a cell, whatever the figure.
std::vector<std::string> remarks_on(const Cell& cell);

// A cell in which some runs read much more from devices than others: their times are of two kinds.
struct UnlikeReads {
  size_t many = 0, few = 0;  // numbers of runs
  double most_bytes = 0, least_bytes = 0;
};
std::optional<UnlikeReads> unlike_reads(const Cell& cell);
// Two sides of a comparison of which one read much more from devices: bytes per run.
struct UnlikeSides {
  double a_bytes = 0, b_bytes = 0;
};
std::optional<UnlikeSides> unlike_sides(const Cell& a, const Cell& b);

// "+0.3 % a run (+0.1 to +0.5 %)"
std::string drift_text(const Drift& drift);

// Empty unless the configurations were run one after the other.
std::string order_warning(const Sweep& sweep);
std::string looks_remark(const Sweep& sweep);

}  // namespace mlrun::sweep
