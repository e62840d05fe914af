// SPDX-License-Identifier: Apache-2.0
// How a run is started, as words.
#pragma once

#include <map>
#include <string>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// `PROGRAM run OPTIONS --quiet -o FOLDER -- COMMAND`, with the configuration's placement as options; `folder` is the run's trace.
// A dry run is its command alone, to be placed by runner/launch/placement.h.
Words run_words(const Plan& plan, const PlannedRun& run, const std::string& program, const std::string& folder);

// What sets these variables for one command, in a shell: `NAME=VALUE ... ` in front of it, by `env` where a name is none of a shell's.
std::string variables_text(const std::map<std::string, std::string>& variables);

}  // namespace mlrun::sweep
