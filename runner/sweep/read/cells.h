// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep by configuration and workload. A cell is one of each; its successful runs are its repetitions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runner/sweep/statistics/statistics.h"
#include "runner/sweep/store/rows.h"

namespace mlrun::sweep {

struct Cell {
  uint32_t configuration = 0, workload = 0;  // indices
  std::vector<const RunRow*> done;           // in the order in which they were made
  std::vector<const RunRow*> failed;  // also those that took too long; without those that succeeded when tried again
  size_t left = 0;                    // planned, running, or interrupted and to be made again
  [[nodiscard]] size_t runs() const { return done.size() + failed.size() + left; }
};

// By workload, then configuration, each with at least one row. Points into `sweep`.
std::vector<Cell> cells_of(const Sweep& sweep);

// Values of the runs that have the figure.
Series series_of(std::span<const RunRow* const> runs, const std::string& figure);

// Names of figures that a successful run has: those of the question first, in the plan's order, then the others by name.
std::vector<std::string> figure_names(const Sweep& sweep);

// The figures that the plan asks about: wall_s if it names none.
std::vector<std::string> question_of(const Sweep& sweep);

// What a configuration is compared with: the dry one that differs in recording alone, else the first dry one, else the first.
uint32_t base_of(const Sweep& sweep, uint32_t configuration);

// A sweep folder, or one error that says what the path is instead.
Result<Sweep> open_sweep(const std::string& folder);

}  // namespace mlrun::sweep
