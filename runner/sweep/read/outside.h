// SPDX-License-Identifier: Apache-2.0
// Why was run 7 slow: the runs whose wall time is far from that of the other runs of their cell, and which other figures differ in them.
#pragma once

#include <map>
#include <string>

#include "runner/sweep/read/cells.h"
#include "runner/sweep/read/json_values.h"
#include "runner/sweep/statistics/slow_runs.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

// The outlying runs of all cells. Points into `sweep`.
std::map<const RunRow*, OutsideRun> runs_outside(const Sweep& sweep);

// "3.20 s, +38 % beyond the others' 2.31 s; likely: the host ran other guests (steal): 12 % against 0.1 %".
std::string outside_text(const RunRow& run, const OutsideRun& outside, const util::Glyphs& glyphs);

// {usual_s, difference, hints: [{figure, cause, value, usual, weight}]}
Json json_of(const OutsideRun& outside);

}  // namespace mlrun::sweep
