// SPDX-License-Identifier: Apache-2.0
// Measures what sites gain, by runs of the recorded command under several placements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/advise/advise_options.h"
#include "runner/sweep/advise/experiment.h"
#include "runner/sweep/advise/predict.h"
#include "runner/sweep/advise/trace_sites.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct Measurement {
  std::optional<Calibration> calibration;  // nullopt: the runs cannot tell
  std::string why_not;                     // the reason for that
  bool is_spread = false;  // calibration.near are the runs over both nodes, which were faster than on the fast one
  std::vector<std::string> without;  // configurations that the calibration lacks, for want of runs that can be used
};

// Whether all blocks that are alive at one moment, those without a site too, fit on the fast nodes.
bool all_fits(const AdviseOptions& options, const TraceSites& found);

// All blocks on one target.
PlacedRuns everything(const Advice& advice, const char* name, const std::string& target);

// All blocks on the fast memory, on the slow one and over both nodes, and each of the first sites alone on the fast one. Placements for which
// the fast nodes are too small are left out.
std::vector<PlacedRuns> calibration_runs(const AdviseOptions& options, const Advice& advice, const TraceSites& found);

// Those of a trial of FILE: near only if everything fits there.
std::vector<PlacedRuns> trial_runs(const Advice& advice, const std::string& file);

// What runs of these placements tell. Configurations of which too few runs can be used are left out.
Measurement measurement_of(const AdviseOptions& options, const TraceSites& found, const Measured& measured);

// Fails if the command fails in all its runs. Prints which runs were not used.
Result<Measurement> calibrate(const AdviseOptions& options, const Advice& advice, const TraceSites& found);

// Lines about runs whose times were not used, or whose placement was not checked.
std::string left_out_text(const Measured& measured);

}  // namespace mlrun::sweep
