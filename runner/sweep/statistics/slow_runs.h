// SPDX-License-Identifier: Apache-2.0
// Why was run 7 slow? Finds the runs of a cell whose time is outside that of the others, and what else was unlike in them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mlrun::sweep {

// One run of a cell: its time, and what was recorded of it and of the machine meanwhile, by the name of the figure.
struct RunFigures {
  double wall_s = 0;
  std::map<std::string, double> figures;
};

// Something that may have made a run slow (or fast). A hint, no proof.
struct Hint {
  std::string figure;  // steal_share, major_faults ...
  const char* cause = "";
  double value = 0;   // of this run
  double usual = 0;   // median of the runs that are not outside
  double weight = 0;  // 0 to 1: the part of the extra time that it may explain, less where it may be a consequence
};

struct OutsideRun {
  size_t run = 0;           // index
  double usual_s = 0;       // median time of the runs that are not outside
  double difference = 0;    // of its time, as a fraction of that; negative: faster
  std::vector<Hint> hints;  // the likely one first
};

// Indices, in order. Generalised ESD test (Rosner 1983) at 1 % on logarithms: up to two of five runs, four of ten. None of fewer than
// five. In normal noise at most 3 of 100 cells have one; skewed noise has more. A run within 2 % of the others is not outside.
std::vector<size_t> runs_outside(std::span<const double> wall_s);

// The runs outside the others, with hints.
std::vector<OutsideRun> explain_runs(std::span<const RunFigures> runs);

}  // namespace mlrun::sweep
