// SPDX-License-Identifier: Apache-2.0
// mlrun recover: completes the raw data of a killed mlrun and makes the trace. May be repeated.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> recover(const Arguments& arguments);

}  // namespace mlrun::commands
