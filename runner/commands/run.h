// SPDX-License-Identifier: Apache-2.0
// mlrun run: records a command from its start to its end, then makes the trace.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> run(const Arguments& arguments);

}  // namespace mlrun::commands
