// SPDX-License-Identifier: Apache-2.0
// mlrun monitor: the GPUs of this machine and their processes, live, as a table and for Prometheus.
#pragma once

#include "runner/options/options.h"
#include "runner/util/result.h"

namespace mlrun::commands {

Result<int> monitor(const Arguments& arguments);

}  // namespace mlrun::commands
