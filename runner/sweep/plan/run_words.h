// SPDX-License-Identifier: Apache-2.0
// The command line that starts a run, as words.
#pragma once

#include <map>
#include <string>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// `PROGRAM run OPTIONS --quiet -o FOLDER -- COMMAND`, with the configuration's placement as options; `folder` is the run's trace.
// A dry run is its command alone, to be placed by runner/launch/placement.h.
Words run_words(const Plan& plan, const PlannedRun& run, const std::string& program, const std::string& folder);

// Shell text in front of a command that sets these variables for it: `NAME=VALUE ... `, or `env NAME=VALUE ... ` if a shell does not
// accept a name.
std::string variables_text(const std::map<std::string, std::string>& variables);

}  // namespace mlrun::sweep
