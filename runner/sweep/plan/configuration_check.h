// SPDX-License-Identifier: Apache-2.0
// Checks of configurations.
#pragma once

#include "runner/options/options.h"
#include "runner/sweep/plan/draft.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// The options of a configuration, as `mlrun run` reads them. None of them may ask for help.
Result<RunOptions> parse_options(const Words& options);

// Checks each configuration by itself, and that no two have the same name.
void check_configurations(Draft& draft);

}  // namespace mlrun::sweep
