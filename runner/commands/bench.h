// SPDX-License-Identifier: Apache-2.0
// mlrun bench: what tracing costs on this machine, per call.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> bench(const Arguments& arguments);

}  // namespace mlrun::commands
