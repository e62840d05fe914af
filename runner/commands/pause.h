// SPDX-License-Identifier: Apache-2.0
// mlrun pause and mlrun resume: stop and restart recording during a run, for instance to skip a warm-up.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> pause(const Arguments& arguments);
Result<int> resume(const Arguments& arguments);

}  // namespace mlrun::commands
