// SPDX-License-Identifier: Apache-2.0
// `stat` for a terminal: per workload and figure a table, intervals and runs as pictures, and warnings about the figures.
#pragma once

#include <string>
#include <vector>

#include "runner/report/text/text_style.h"
#include "runner/sweep/read/stat_rows.h"

namespace mlrun::sweep {

// "OUT  3 configurations × 2 workloads · 58 of 60 runs done · 2 failed"
std::string sweep_head(const Sweep& sweep, const report::TextStyle& style);

std::string stat_text(const Sweep& sweep, const Statistics& all, const report::TextStyle& style);

}  // namespace mlrun::sweep
