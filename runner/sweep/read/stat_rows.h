// SPDX-License-Identifier: Apache-2.0
// What `stat` shows: the figures of each configuration and workload, and what each configuration costs more than its base.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/sweep/read/cells.h"

namespace mlrun::sweep {

struct StatRow {
  Cell cell;
  std::map<std::string, Description> figures;
  const Cell* base = nullptr;  // the dry configuration's cell of this workload; nullptr: none, or it is this
  std::map<std::string, Comparison> overhead;  // against the base
  std::vector<std::string> remarks;            // on the cell, whatever the figure
};

struct Statistics {
  std::vector<std::string> figures;  // the described figures, in order of display
  std::vector<Cell> cells;           // what `base` points into
  std::vector<StatRow> rows;         // by workload, then configuration
  std::vector<std::string> warnings;
};

// Empty `figures`: all. Points into `sweep`.
Statistics statistics_of(const Sweep& sweep, std::vector<std::string> figures);

}  // namespace mlrun::sweep
