// SPDX-License-Identifier: Apache-2.0
// What a sweep would run, and how long that would take.
#pragma once

#include <string>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Prints every run with its full command. If `folder` holds a sweep, times are those of its successful runs, and these are not made
// again. Empty `folder`: the commands show OUT.
Status print_dry_run(const Plan& plan, const std::string& folder, bool json);

}  // namespace mlrun::sweep
