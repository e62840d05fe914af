// SPDX-License-Identifier: Apache-2.0
// What `compare` shows: two sides, which of their cells belong together, and the difference of each figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/read/cells.h"

namespace mlrun::sweep {

// A sweep, one of its configurations, or a trace.
struct Side {
  std::string name;  // as the user gave it
  Sweep sweep;       // of a trace: one run
  bool is_trace = false;
  std::optional<uint32_t> configuration;  // named in OUT:CONFIGURATION; nullopt: all of the sweep
};

// "OUT", "OUT:CONFIGURATION" or the folder of a trace.
Result<Side> open_side(const std::string& text);

// Cells that are compared.
struct CellPair {
  std::string configuration, base, workload;  // names of the configurations, key of the workload
  Cell a, b;
};

struct ComparedRow {
  size_t pair = 0;
  std::string figure;
  // The plan's question names the figure: its verdict is corrected for the number of such rows.
  bool is_question = false;
  Comparison comparison;
};

struct Compared {
  std::vector<CellPair> pairs;
  std::vector<ComparedRow> rows;  // by pair; those of the question first
  double margin = 0;
  size_t questions = 0;               // number of rows that are corrected
  std::vector<std::string> warnings;  // one sentence each
};

// Compares two sides. Figures that the question does not name are exploratory: not corrected. `margin`: nullopt takes the plan's. The
// result points into the sides' sweeps.
Result<Compared> compare_sides(const Side& a, const Side& b, std::optional<double> margin);
// Each configuration of a sweep with its base (cells.h), or with `base` where that is given.
Result<Compared> compare_within(const Sweep& sweep, const std::string& base, std::optional<double> margin);

}  // namespace mlrun::sweep
