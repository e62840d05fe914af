// SPDX-License-Identifier: Apache-2.0
// Reads the MLPerf lines (":::MLLOG") of a log as marks and phases. Other lines do not count as events.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_mllog(const std::string& path, TraceMaker& to);

}  // namespace mlrun::exchange
