// SPDX-License-Identifier: Apache-2.0
// Why was run 7 slow? Finds the runs of a cell whose wall time is far from that of the cell's other runs, and which other figures differ
// in them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mlrun::sweep {

// One run of a cell: its wall time, and the figures of the run and of the machine during it, by name.
struct RunFigures {
  double wall_s = 0;
  std::map<std::string, double> figures;
};

// Something that may have made a run slow (or fast). A hint, no proof.
struct Hint {
  std::string figure;  // steal_share, major_faults ...
  const char* cause = "";
  double value = 0;  // in this run
  double usual = 0;  // median of the runs that are not outlying
  // 0 to 1: the part of the extra time that this figure may explain, less where the figure may be a consequence of another cause
  double weight = 0;
};

struct OutsideRun {
  size_t run = 0;           // index into the given runs
  double usual_s = 0;       // median time of the runs that are not outlying
  double difference = 0;    // of this run's time from usual_s, as a fraction of usual_s; negative: faster
  std::vector<Hint> hints;  // the likeliest cause first
};

// Rising indices of the outlying runs. Generalised ESD test (Rosner 1983) at 1 % on logarithms of the times: at most two of five runs,
// four of ten; none in a cell of fewer than five. In normal noise at most 3 of 100 cells have one, in skewed noise more. A run within 2 %
// of the median of the others is not outlying.
std::vector<size_t> runs_outside(std::span<const double> wall_s);

// The outlying runs, with hints.
std::vector<OutsideRun> explain_runs(std::span<const RunFigures> runs);

}  // namespace mlrun::sweep
