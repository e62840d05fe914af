// SPDX-License-Identifier: Apache-2.0
// How a run is started, as words.
#pragma once

#include <string>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// `PROGRAM run OPTIONS --quiet -o FOLDER -- COMMAND`, with the configuration's placement as options; `folder` is the run's trace.
// A dry run is its command alone, to be placed by runner/launch/placement.h.
Words run_words(const Plan& plan, const PlannedRun& run, const std::string& program, const std::string& folder);

}  // namespace mlrun::sweep
